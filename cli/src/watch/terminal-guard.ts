import { spawn } from 'node:child_process';

/**
 * Waits for one line on standard input. When it ends without one, the process that was to write it was killed: the
 * terminal gets back its modes, its first screen and its cursor. It may be in the background by then, so that TTOU must
 * not stop it. What the shell has written meanwhile is lost with the second screen, so that a line says what happened.
 */
const GUARD = `
trap '' INT TERM HUP QUIT TTOU TTIN
modes=$(stty -g </dev/tty) || exit 0
echo ready
IFS= read -r word
[ "$word" = done ] && exit 0
stty "$modes" </dev/tty
printf '\\033[?1049l\\033[?25h\\033[?2004l\\033[0m\\nshopctl watch was killed; the terminal is as it was\\n' >/dev/tty
`;

export interface TerminalGuard {
  /** The terminal has been given back by its user itself. */
  dismiss(): void;
}

/** Longest wait for it to have noted the modes, ms; a shell that takes longer does not delay the screen. */
const READY_LIMIT_MS = 2_000;

/**
 * Starts a small shell that gives the terminal back when this process is killed and cannot (SIGKILL, out of memory).
 * Resolves when it has noted the terminal's modes: they must not be changed before. Side effects: one process, which ends
 * with this one.
 */
export async function guardTerminal(): Promise<TerminalGuard> {
  const guard = spawn('/bin/sh', ['-c', GUARD], { stdio: ['pipe', 'pipe', 'ignore'] });
  const noted = Promise.withResolvers<void>();
  const limit = setTimeout(noted.resolve, READY_LIMIT_MS);
  guard.stdout.once('data', () => noted.resolve());
  guard.once('exit', () => noted.resolve());
  // A machine without /bin/sh has no guard; nothing else depends on it.
  guard.once('error', () => noted.resolve());
  guard.stdin.on('error', () => undefined);
  await noted.promise;
  clearTimeout(limit);
  guard.unref();
  return { dismiss: () => void guard.stdin.end('done\n') };
}
