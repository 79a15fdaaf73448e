import { CliError, messageOf } from '../../errors.ts';
import { parseReferenceLine } from '../format/reference-lines.ts';
import { refusalOf } from './allowed.ts';
import { playReference, type ReferencePorts } from './play-reference.ts';
import type { Player, PlaySession } from './player.ts';

/** A player of a script: the lines of a scenario's `reference`, `#` begins a comment. Throws CliError (2) with the first line that is none. */
export function scriptPlayer(text: string, file: string): Player {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const played = lines.filter((line) => line !== '' && !line.startsWith('#'));
  for (const [index, line] of lines.entries()) {
    if (played.includes(line)) requireLine(line, `${file}:${index + 1}`);
  }
  return async (session) => {
    // A script that has not said that it is done goes on with nothing until the limit.
    if (await playLines(played, session)) await untilAborted(session.signal);
  };
}

function requireLine(line: string, place: string): void {
  const refuse = (why: string) => {
    throw new CliError({
      code: 'invalid_script',
      what: `${place} cannot be played`,
      why,
      next: 'a line is "wait page", "wait 10s", or a command of an operator without "shopctl"',
    });
  };
  try {
    const parsed = parseReferenceLine(line);
    if (parsed.kind === 'wait-symptom') refuse('a script does not know what the round is about');
    const refusal = parsed.kind === 'command' ? refusalOf(parsed.words) : undefined;
    if (refusal !== undefined) refuse(refusal);
  } catch (error) {
    if (error instanceof CliError) throw error;
    refuse(messageOf(error));
  }
}

/**
 * Plays until the first line that fails, which is said. Resolves to whether all succeeded. `known`: of the scenario, where its solution is
 * played.
 */
export async function playLines(
  lines: readonly string[],
  session: PlaySession,
  known: Pick<ReferencePorts, 'awaited' | 'hasSymptom'> = {},
): Promise<boolean> {
  const { clock, operator, signal, say } = session;
  const played = await playReference(lines, {
    clock,
    operator,
    pages: () => session.pages(),
    ...known,
    signal,
    onPlayed: ({ played, problem }) => say(problem === undefined ? played : `${played}: ${problem}`),
  });
  return played.at(-1)?.problem === undefined;
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
