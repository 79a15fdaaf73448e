/** A terminal for programs that want one: tmux draws it, keys are sent to it, and what it shows can be read. */
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { eventually } from './eventually.ts';

const run = promisify(execFile);

/** Undefined where tmux is; otherwise why a test cannot run, and what to do about it. */
export const noTmux: string | undefined =
  spawnSync('tmux', ['-V']).status === 0 ? undefined : 'tmux is not installed ("apt-get install tmux")';

export interface Terminal {
  /** Text as it is typed, then keys by tmux' names (`Enter`, `Escape`, `Down`). */
  type(text: string, ...keys: string[]): Promise<void>;
  /** What is on the screen, without colours. */
  screen(): Promise<string>;
  /** Resolves with the screen once it shows this; throws with the screen as it is when it does not in time. */
  shows(what: RegExp, withinMs?: number): Promise<string>;
  resize(columns: number, rows: number): Promise<void>;
  /** Whether a program has the second screen, and whether the cursor is shown. */
  state(): Promise<{ readonly alternate: boolean; readonly cursor: boolean }>;
  close(): Promise<void>;
}

export interface TerminalOptions {
  readonly columns: number;
  readonly rows: number;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

const SHOWS_WITHIN_MS = 15_000;

/** Opens a terminal with a plain shell in it; its server is its own and ends with it. */
export async function openTerminal({ columns, rows, env, cwd }: TerminalOptions): Promise<Terminal> {
  const server = `shop-${process.pid}-${Math.round(performance.now())}`;
  // The tests may run in a tmux of the user: that one is left alone.
  const { TMUX: _, ...rest } = env;
  const tmux = async (...args: string[]) => {
    const { stdout } = await run('tmux', ['-u', '-L', server, '-f', '/dev/null', ...args], {
      cwd,
      env: { ...rest, LC_ALL: 'C.UTF-8', TERM: 'xterm-256color' },
    });
    return stdout;
  };
  await tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), 'PS1="$ " exec /bin/sh');
  const screen = () => tmux('capture-pane', '-p');
  return {
    async type(text, ...keys) {
      if (text !== '') await tmux('send-keys', '-l', text);
      for (const key of keys) await tmux('send-keys', key);
    },
    screen,
    shows: (what, withinMs = SHOWS_WITHIN_MS) =>
      eventually(`the screen to show ${what}`, { withinMs, seen: screen }, async () => {
        const text = await screen();
        return what.test(text) && text;
      }),
    resize: async (width, height) => void (await tmux('resize-window', '-x', String(width), '-y', String(height))),
    async state() {
      const [alternate, cursor] = (await tmux('display', '-p', '#{alternate_on} #{cursor_flag}')).trim().split(' ');
      return { alternate: alternate === '1', cursor: cursor === '1' };
    },
    close: async () => void (await tmux('kill-server')),
  };
}
