import { randomUUID } from 'node:crypto';
import type { LabelSet } from './label-set.ts';
import { createMatcher, type Matcher, type MatcherFields, matchesAll } from './matcher.ts';
import { BadPatternError, checkPattern } from './pattern.ts';

/** For a time, alerts that it matches are not brought to people. Times in ms since 1970. */
export interface Silence {
  readonly id: string;
  readonly matchers: readonly MatcherFields[];
  readonly startsAtMs: number;
  readonly endsAtMs: number;
  readonly updatedAtMs: number;
  readonly createdBy: string;
  readonly comment: string;
  readonly annotations: LabelSet;
}

/** What a client asks for; with an id it changes that one. */
export type AskedSilence = Omit<Silence, 'id' | 'updatedAtMs'> & { readonly id?: string };

/** A silence that cannot be; the message is Alertmanager's. */
export class BadSilenceError extends Error {
  override readonly name: string = 'BadSilenceError';
}

export class NoSuchSilenceError extends BadSilenceError {
  override readonly name = 'NoSuchSilenceError';

  constructor() {
    super('silence not found');
  }
}

export type SilenceState = 'pending' | 'active' | 'expired';

export function silenceStateOf({ startsAtMs, endsAtMs }: Silence, nowMs: number): SilenceState {
  if (nowMs < startsAtMs) return 'pending';
  return nowMs < endsAtMs ? 'active' : 'expired';
}

/**
 * What becomes of the silences when one is asked for: the silence as it is then, and the one that it replaces, which has ended. A change
 * that would rewrite what was silenced makes a new one. Throws BadSilenceError. Source: Alertmanager, `silence/silence.go` (`Set`).
 */
export function setSilence(
  asked: AskedSilence,
  known: ReadonlyMap<string, Silence>,
  nowMs: number,
  createId: () => string = randomUUID,
): { readonly silence: Silence; readonly replaced?: Silence } {
  if (asked.startsAtMs >= asked.endsAtMs)
    throw new BadSilenceError('Failed to create silence: start time must be before end time');
  if (asked.endsAtMs < nowMs) throw new BadSilenceError("Failed to create silence: end time can't be in the past");
  checkMatchers(asked.matchers);
  const { id = '', ...fields } = asked;
  const earlier = known.get(id);
  if (id !== '' && earlier === undefined) throw new NoSuchSilenceError();
  if (earlier && canChange(earlier, asked, nowMs)) return { silence: { ...fields, id, updatedAtMs: nowMs } };
  const startsAtMs = Math.max(asked.startsAtMs, nowMs);
  const silence = { ...fields, id: createId(), startsAtMs, updatedAtMs: nowMs };
  if (!earlier || silenceStateOf(earlier, nowMs) === 'expired') return { silence };
  return { silence, replaced: expireSilence(earlier, nowMs) };
}

/** It ends now; one that has ended stays as it is. */
export function expireSilence(silence: Silence, nowMs: number): Silence {
  const state = silenceStateOf(silence, nowMs);
  if (state === 'expired') return silence;
  const startsAtMs = state === 'pending' ? nowMs : silence.startsAtMs;
  return { ...silence, startsAtMs, endsAtMs: nowMs, updatedAtMs: nowMs };
}

/** Without rewriting which alerts were silenced until now. */
function canChange(earlier: Silence, asked: AskedSilence, nowMs: number): boolean {
  if (JSON.stringify(earlier.matchers) !== JSON.stringify(asked.matchers)) return false;
  const state = silenceStateOf(earlier, nowMs);
  if (state === 'active') return toSecond(earlier.startsAtMs) === toSecond(asked.startsAtMs);
  return state === 'pending' && asked.startsAtMs >= nowMs;
}

const toSecond = (ms: number) => Math.floor(ms / 1000);

function checkMatchers(matchers: readonly MatcherFields[]): void {
  let isSelective = false;
  for (const [index, fields] of matchers.entries()) {
    const problem = problemOf(fields);
    if (problem !== undefined)
      throw new BadSilenceError(`invalid silence: invalid label matcher ${index} in set 0: ${problem}`);
    // A negation is enough, also where it takes an absent label.
    isSelective ||= !fields.isEqual || !createMatcher(fields).matches('');
  }
  if (isSelective) return;
  throw new BadSilenceError('invalid silence: matcher set 0: at least one matcher must not match the empty string');
}

function problemOf({ name, value, isRegex }: MatcherFields): string | undefined {
  if (name === '' || !name.isWellFormed()) return `invalid label name ${JSON.stringify(name)}`;
  if (!isRegex) return value.isWellFormed() ? undefined : `invalid label value ${JSON.stringify(value)}`;
  try {
    checkPattern(value);
    return undefined;
  } catch (error) {
    if (!(error instanceof BadPatternError)) throw error;
    return `invalid regular expression ${JSON.stringify(value)}: ${error.message}`;
  }
}

/** Silences with their compiled matchers. */
export interface SilenceIndex {
  /** The active ones that silence an alert with these labels. */
  idsFor(labels: LabelSet, nowMs: number): readonly string[];
  set(silence: Silence): void;
  delete(id: string): void;
}

export function createSilenceIndex(silences: Iterable<Silence>): SilenceIndex {
  const compiled = new Map<string, { silence: Silence; matchers: readonly Matcher[] }>();
  const set = (silence: Silence) => {
    compiled.set(silence.id, { silence, matchers: silence.matchers.map(createMatcher) });
  };
  for (const silence of silences) set(silence);
  return {
    idsFor: (labels, nowMs) =>
      [...compiled.values()]
        .filter(({ silence }) => silenceStateOf(silence, nowMs) === 'active')
        .filter(({ matchers }) => matchesAll(matchers, labels))
        .map(({ silence }) => silence.id)
        .toSorted(),
    set,
    delete: (id) => void compiled.delete(id),
  };
}
