/** What a stream can show. */
export interface Terminal {
  /** A person reads it there: it is neither a file nor another program. */
  readonly isTerminal: boolean;
  readonly colors: boolean;
  /** Can redraw a line: spinners are allowed. */
  readonly redraws: boolean;
  /** Characters per line. */
  readonly columns: number;
}

/** The part of a TTY stream that decides. */
export interface MaybeTerminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/**
 * Capabilities of a stream under the usual agreements: NO_COLOR (no-color.org) and FORCE_COLOR, TERM=dumb, CI (colours
 * stay as the stream says, but nothing is redrawn).
 */
export function terminalOf(stream: MaybeTerminal, env: NodeJS.ProcessEnv): Terminal {
  const isTerminal = stream.isTTY === true && env.TERM !== 'dumb';
  return {
    isTerminal: stream.isTTY === true,
    colors: isSet(env.NO_COLOR) ? false : isSet(env.FORCE_COLOR) || isTerminal,
    // Who reports no columns (expect, the terminals of some CI runners) does not wrap lines, so none can be counted.
    redraws: isTerminal && !isCi(env) && stream.columns !== 0,
    columns: stream.columns || 80,
  };
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '';
}

function isCi(env: NodeJS.ProcessEnv): boolean {
  return isSet(env.CI) && env.CI !== 'false' && env.CI !== '0';
}
