import type { CliErrorCode } from '../../error-codes.ts';
import { messageOf } from '../../errors.ts';
import type { RunClock } from '../../shared/clock.ts';
import { formatDuration } from '../../shared/duration.ts';
import { parseReferenceLine, placeholderIn, type ReferenceLine } from '../format/reference-lines.ts';
import type { Operator, Ran } from './operator.ts';
import { resolvePlaceholder } from './placeholders.ts';

/** What a reference solution is played with. */
export interface ReferencePorts {
  readonly clock: RunClock;
  readonly operator: Operator;
  /** Names of the pages and tickets that fire. Rejects where none can come any more. */
  pages(): Promise<readonly string[]>;
  /** What `wait page` waits for: another alert may fire as well. Default: any. */
  readonly awaited?: readonly string[];
  /** Whether the scenario's metric shows its symptom now. Undefined where it is not known. */
  readonly hasSymptom?: (() => Promise<boolean>) | undefined;
  readonly signal: AbortSignal;
  onPlayed?(line: PlayedLine): void;
}

/** One line of it, as it was played. */
export interface PlayedLine {
  readonly line: string;
  /** The command without its placeholders, or what was waited for. */
  readonly played: string;
  readonly tookMs: number;
  /** Why it failed; the lines after it were not played. */
  readonly problem?: string;
}

/** How long a page, or the symptom of a metric, may take to come after the longest quiet time, ms. */
const PAGE_LIMIT_MS = 240_000;
/** What a placeholder stands for, and what is cited, may come later than the page, ms. */
const PLACEHOLDER_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 1_000;

/**
 * Plays a solution line by line, as commands of an operator. Ends with its first line that fails: the last of what it resolves with has the
 * problem then. Rejects when the signal aborts.
 */
export async function playReference(lines: readonly string[], ports: ReferencePorts): Promise<readonly PlayedLine[]> {
  const done: PlayedLine[] = [];
  for (const text of lines) {
    const line = await playLine(parseReferenceLine(text), ports);
    ports.onPlayed?.(line);
    done.push(line);
    if (line.problem !== undefined) break;
  }
  return done;
}

async function playLine(line: ReferenceLine, ports: ReferencePorts): Promise<PlayedLine> {
  const began = ports.clock.now();
  const result = await attempt(line, ports).catch((error: unknown) => ({
    played: line.text,
    problem: messageOf(error),
  }));
  ports.signal.throwIfAborted();
  return { line: line.text, ...result, tookMs: Math.round(ports.clock.now() - began) };
}

type Attempt = Pick<PlayedLine, 'played' | 'problem'>;

async function attempt(line: ReferenceLine, ports: ReferencePorts): Promise<Attempt> {
  const { clock, signal } = ports;
  switch (line.kind) {
    case 'wait':
      await clock.sleep(line.ms, signal);
      return { played: line.text };
    case 'wait-page': {
      const names = await untilThere(() => firing(line, ports), PAGE_LIMIT_MS, ports);
      if (names !== undefined) return { played: names.join(', ') };
      return { played: line.text, problem: `no page came in ${formatDuration(PAGE_LIMIT_MS)}` };
    }
    case 'wait-symptom': {
      const { hasSymptom } = ports;
      if (hasSymptom === undefined) return { played: line.text, problem: 'only a scenario with a metric has it' };
      const isThere = await untilThere(async () => (await hasSymptom()) || undefined, PAGE_LIMIT_MS, ports);
      if (isThere) return { played: line.text };
      return { played: line.text, problem: `the metric showed none in ${formatDuration(PAGE_LIMIT_MS)}` };
    }
    case 'command': {
      const words = await wordsOf(line.words, ports);
      if (typeof words === 'string') return { played: line.text, problem: words };
      const { exitCode, complaint = '' } = await runOnceThere(words, ports);
      const played = words.join(' ');
      if (exitCode === 0) return { played };
      return { played, problem: `it ended with ${exitCode ?? 'its time limit'}: ${complaint}` };
    }
  }
}

/** An alert that it cites may fire, and a span arrive, some seconds later. What is not there costs no try. */
async function runOnceThere(words: readonly string[], ports: ReferencePorts): Promise<Ran> {
  let ran: Ran | undefined;
  const run = async () => {
    ran = await ports.operator.run(words);
    return ran.complaint?.includes(NOT_THERE) ? undefined : ran;
  };
  await untilThere(run, PLACEHOLDER_LIMIT_MS, ports);
  return ran as Ran;
}

const NOT_THERE: CliErrorCode = 'unknown_evidence';

async function firing(
  { alert }: { readonly alert?: string },
  { pages, awaited }: ReferencePorts,
): Promise<readonly string[] | undefined> {
  const isAwaited = (name: string) => (alert === undefined ? (awaited?.includes(name) ?? true) : name === alert);
  const names = (await pages()).filter(isAwaited);
  return names.length === 0 ? undefined : names;
}

/** The words without placeholders, or why there are none. */
async function wordsOf(words: readonly string[], ports: ReferencePorts): Promise<readonly string[] | string> {
  const resolved: string[] = [];
  for (const word of words) {
    const placeholder = placeholderIn(word);
    if (placeholder === undefined) {
      resolved.push(word);
      continue;
    }
    let problem = 'there is none';
    const look = () =>
      resolvePlaceholder(placeholder, ports.operator).catch((error: unknown) => {
        // What is looked at may be what fails: asked again until the limit.
        problem = messageOf(error);
        return undefined;
      });
    const found = await untilThere(look, PLACEHOLDER_LIMIT_MS, ports);
    if (found === undefined) return `nothing was found for ${word}: ${problem}`;
    resolved.push(...found);
  }
  return resolved;
}

async function untilThere<T>(
  look: () => Promise<T | undefined>,
  limitMs: number,
  { clock, signal }: ReferencePorts,
): Promise<T | undefined> {
  for (const deadline = clock.now() + limitMs; ; ) {
    const seen = await look();
    signal.throwIfAborted();
    if (seen !== undefined || clock.now() >= deadline) return seen;
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
}
