import type { Matcher, MatcherFields } from '../matcher.ts';
import { type AskedSilence, type Silence, type SilenceState, silenceStateOf } from '../silence.ts';
import { writeTime } from './alerts.ts';
import { booleanOf, isAbsent, labelsOf, listOf, missing, objectOf, stringOf, timeOf } from './read-fields.ts';
import { invalid } from './responses.ts';

const MOST_MATCHERS = 50;
/** Of a silence's texts, in characters. */
const MOST_CHARACTERS = 8 * 1024;

/** Reads a `postableSilence`. Throws RefusedError. */
export function readSilence(body: unknown, nowMs: number): AskedSilence {
  const fields = objectOf(body, 'silence', 'the body');
  // In the order in which Alertmanager looks.
  for (const name of ['comment', 'createdBy', 'endsAt', 'matchers', 'startsAt'])
    if (isAbsent(fields[name])) throw missing(name);
  const matchers = listOf(fields.matchers, 'silence', 'matchers').map(readMatcher);
  if (matchers.length === 0) throw invalid(422, 612, 'matchers in body should have at least 1 items');
  if (matchers.length > MOST_MATCHERS)
    throw invalid(422, 613, `matchers in body should have at most ${MOST_MATCHERS} items`);
  const id = stringOf(fields.id, 'silence', 'id') ?? '';
  const silence = {
    ...(id !== '' && { id }),
    matchers,
    startsAtMs: timeOf(fields.startsAt, 'silence', 'startsAt') ?? nowMs,
    endsAtMs: timeOf(fields.endsAt, 'silence', 'endsAt') ?? 0,
    createdBy: stringOf(fields.createdBy, 'silence', 'createdBy') ?? '',
    comment: stringOf(fields.comment, 'silence', 'comment') ?? '',
    annotations: labelsOf(fields.annotations, 'silence', 'annotations'),
  };
  const characters = JSON.stringify(silence).length;
  if (characters > MOST_CHARACTERS) throw invalid(422, 422, `a silence has at most ${MOST_CHARACTERS} characters`);
  return silence;
}

function readMatcher(value: unknown, index: number): MatcherFields {
  const path = `matchers.${index}`;
  const fields = objectOf(value, 'silence', path);
  for (const name of ['isRegex', 'name', 'value']) if (isAbsent(fields[name])) throw missing(`${path}.${name}`);
  return {
    name: stringOf(fields.name, 'silence', `${path}.name`) ?? '',
    value: stringOf(fields.value, 'silence', `${path}.value`) ?? '',
    isRegex: booleanOf(fields.isRegex, 'silence', `${path}.isRegex`) ?? false,
    isEqual: booleanOf(fields.isEqual, 'silence', `${path}.isEqual`) ?? true,
  };
}

/** A `gettableSilence`. */
export function writeSilence(silence: Silence, nowMs: number): object {
  const { id, matchers, startsAtMs, endsAtMs, updatedAtMs, createdBy, comment, annotations } = silence;
  return {
    id,
    status: { state: silenceStateOf(silence, nowMs) },
    updatedAt: writeTime(updatedAtMs),
    annotations,
    comment,
    createdBy,
    endsAt: writeTime(endsAtMs),
    matchers: matchers.map(({ isEqual, isRegex, name, value }) => ({ isEqual, isRegex, name, value })),
    startsAt: writeTime(startsAtMs),
  };
}

const ORDER: Readonly<Record<SilenceState, number>> = { active: 1, pending: 2, expired: 3 };

/**
 * The active ones first, the next to end first; then the pending ones, the next to start first; then those that ended, the last
 * first. Source: Alertmanager, `api/v2/api.go` (`SortSilences`).
 */
export function sortSilences(silences: readonly Silence[], nowMs: number): readonly Silence[] {
  const timeOfOrder = { active: 'endsAtMs', pending: 'startsAtMs', expired: 'endsAtMs' } as const;
  return silences.toSorted((a, b) => {
    const [state, other] = [silenceStateOf(a, nowMs), silenceStateOf(b, nowMs)];
    if (state !== other) return ORDER[state] - ORDER[other];
    const field = timeOfOrder[state];
    return state === 'expired' ? b[field] - a[field] : a[field] - b[field];
  });
}

/** Whether a silence has each of these matchers, letter by letter. */
export function hasMatchers({ matchers }: Silence, asked: readonly Matcher[]): boolean {
  return asked.every(({ name, value, isRegex, isEqual }) =>
    matchers.some(
      (one) => one.name === name && one.value === value && one.isRegex === isRegex && one.isEqual === isEqual,
    ),
  );
}
