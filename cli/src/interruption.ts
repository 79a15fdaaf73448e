import { type ExitCode, exitCodes } from './exit-codes.ts';

/** How a process reacts to Ctrl-C and SIGTERM. */
export interface Interruption {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  onInterrupt(cleanUp: () => Promise<void>): void;
  /**
   * The next second signal is reported instead of ending the process: its clean-up must not be skipped. One further
   * ends it.
   */
  onForce(handler: () => void): void;
  /** `exitCode`, or 130/143 once the clean-up is done if a signal came. */
  exitCodeOr(exitCode: ExitCode): Promise<ExitCode>;
}

const codes = { SIGINT: exitCodes.interrupted, SIGTERM: exitCodes.terminated } as const;

/**
 * First signal: the abort signal fires and registered clean-ups run in reverse order, then the process exits
 * (immediately when there are none), with 6 when it left something. Second signal: exits without waiting, unless a
 * command still has to.
 */
export function createInterruption(
  host: NodeJS.Process,
  output: { note(text: string): void; warn(text: string): void },
): Interruption {
  const controller = new AbortController();
  const cleanUps: (() => Promise<void>)[] = [];
  const forces: (() => void)[] = [];
  let ending: Promise<ExitCode> | undefined;

  const end = async (code: ExitCode): Promise<ExitCode> => {
    if (cleanUps.length > 0) output.note('interrupted: ending; press Ctrl-C again to force');
    controller.abort();
    for (const cleanUp of cleanUps.reverse()) {
      await cleanUp().catch((error: unknown) => output.warn(`while ending: ${(error as Error).message}`));
    }
    // The codes of an interruption also say that nothing is left.
    return host.exitCode === exitCodes.dirty ? exitCodes.dirty : code;
  };
  for (const [name, code] of Object.entries(codes) as [keyof typeof codes, ExitCode][]) {
    host.on(name, () => {
      const force = ending && forces.shift();
      if (force) return force();
      if (ending) host.exit(code);
      ending = end(code);
      // The command itself may never come back, so this is where an interrupted process ends.
      void ending.then((exitCode) => host.exit(exitCode));
    });
  }
  return {
    signal: controller.signal,
    onInterrupt: (cleanUp) => void cleanUps.push(cleanUp),
    onForce: (handler) => void forces.push(handler),
    exitCodeOr: async (exitCode) => ending ?? exitCode,
  };
}

/** A closed terminal is an interruption like Ctrl-C; what is then written to it goes nowhere. */
export function forwardHangUp(): void {
  process.once('SIGHUP', () => {
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
    process.emit('SIGINT');
  });
}
