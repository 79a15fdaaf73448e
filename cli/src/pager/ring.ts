import { printable } from '../output/printable.ts';
import { complaintOf, runProgram } from '../process/run-program.ts';

const BELL = '\u0007';
const ESCAPE = '\u001b';
/** Of a notice, in characters. */
const MOST_CHARACTERS = 200;

/**
 * What a terminal writes to be noticed: the bell, and notices of iTerm2, kitty and Windows Terminal (OSC 9) and of urxvt, foot and
 * Ghostty (OSC 777). A terminal ignores those that it does not know. Pure.
 */
export function ringText(title: string, text: string): string {
  // A semicolon separates title and text.
  const [head, body] = [title, text].map((one) => printable(one).replaceAll(';', ',').slice(0, MOST_CHARACTERS));
  return `${BELL}${ESCAPE}]9;${head}: ${body}${BELL}${ESCAPE}]777;notify;${head};${body}${BELL}`;
}

export interface Desktop {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
}

const LIMIT_MS = 5_000;

/**
 * Shows a notice on the desktop by `notify-send`, or `osascript` on macOS. Resolves to the reason where it could not be shown.
 */
export async function notifyDesktop(title: string, text: string, desktop: Desktop): Promise<string | undefined> {
  const [program, ...words] = desktopCommand(printable(title), printable(text), desktop.platform);
  try {
    await runProgram(program, words, { env: desktop.env, timeoutMs: LIMIT_MS });
    return undefined;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return isMissing ? `there is no ${program} here` : complaintOf(error);
  }
}

/** Title and text are arguments, never parts of a script. Pure. */
export function desktopCommand(
  title: string,
  text: string,
  platform: NodeJS.Platform,
): readonly [program: string, ...words: string[]] {
  if (platform !== 'darwin') return ['notify-send', '--urgency=critical', '--app-name=shopctl', '--', title, text];
  const script = ['on run argv', 'display notification (item 2 of argv) with title (item 1 of argv)', 'end run'];
  return ['osascript', ...script.flatMap((line) => ['-e', line]), title, text];
}
