import { spawn } from 'node:child_process';

/**
 * Waits for one line on standard input. When it ends without one, whoever was to write it was killed: the terminal gets
 * back its modes, its first screen and its cursor. It may be in the background by then, so that TTOU must not stop it.
 */
const GUARD = `
trap '' INT TERM HUP QUIT TTOU TTIN
modes=$(stty -g </dev/tty) || exit 0
IFS= read -r word
[ "$word" = done ] && exit 0
printf '\\033[?1049l\\033[?25h\\033[?2004l\\033[0m' >/dev/tty
stty "$modes" </dev/tty
`;

export interface TerminalGuard {
  /** The terminal has been given back by its user itself. */
  dismiss(): void;
}

/**
 * Starts a small shell that gives the terminal back when this process is killed and cannot (SIGKILL, out of memory). Call
 * it before the terminal is changed. Side effects: one process, which ends with this one.
 */
export function guardTerminal(): TerminalGuard {
  const guard = spawn('/bin/sh', ['-c', GUARD], { stdio: ['pipe', 'ignore', 'ignore'] });
  // A machine without /bin/sh has no guard; nothing else depends on it.
  guard.on('error', () => undefined);
  guard.stdin.on('error', () => undefined);
  guard.unref();
  return { dismiss: () => void guard.stdin.end('done\n') };
}
