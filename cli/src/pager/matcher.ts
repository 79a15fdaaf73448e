import type { LabelSet } from './label-set.ts';
import { compilePattern } from './pattern.ts';

/** A condition on one label, as Alertmanager's API writes it. */
export interface MatcherFields {
  readonly name: string;
  readonly value: string;
  readonly isRegex: boolean;
  readonly isEqual: boolean;
}

/** One that was compiled. */
export interface Matcher extends MatcherFields {
  /** Whether a label has such a value; an absent label is an empty one. */
  matches(value: string): boolean;
}

/** Throws BadPatternError. */
export function createMatcher({ name, value, isRegex, isEqual }: MatcherFields): Matcher {
  const has = isRegex ? compilePattern(value) : { test: (text: string) => text === value };
  return { name, value, isRegex, isEqual, matches: (text) => has.test(text) === isEqual };
}

export function matchesAll(matchers: readonly Matcher[], labels: LabelSet): boolean {
  return matchers.every(({ name, matches }) => matches(labelOf(labels, name)));
}

function labelOf(labels: LabelSet, name: string): string {
  return Object.hasOwn(labels, name) ? (labels[name] as string) : '';
}

/** `alertname="OutboxStalled"`. */
export function writeMatcher({ name, value, isRegex, isEqual }: MatcherFields): string {
  const operator = isRegex ? (isEqual ? '=~' : '!~') : isEqual ? '=' : '!=';
  return `${name}${operator}"${value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')}"`;
}
