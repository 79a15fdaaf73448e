import type { Scenario } from '../format/schema.ts';
import { type DrillRecord, type RecordOf, recordsOf } from '../journal/records.ts';
import { rubric } from './rubric.ts';

type Second = RecordOf<'second'>;

/** What customers notice in a second of a round. */
export interface Noticed {
  readonly second: Second;
  /** Outside of an objective: what, for people. */
  readonly outside?: string;
  /** Everything that is outside of its objective, in the words of a scenario's symptom. */
  readonly kinds: ReadonlySet<SymptomKind>;
}

export type SymptomKind = 'failures' | 'latency' | 'shipments' | 'metric';

/** A scenario's metric: a value above is a symptom. */
export interface Measured {
  readonly above: number;
  /** By the number of the second's record. */
  readonly values: ReadonlyMap<number, number>;
}

/** What was measured in a round that was revealed; undefined where the symptom is not of a metric. Pure. */
export function measuredOf(
  { symptom }: Pick<Scenario, 'symptom'>,
  records: readonly DrillRecord[],
): Measured | undefined {
  if (symptom.of !== 'metric') return undefined;
  return { above: symptom.above, values: new Map(recordsOf(records, 'measured').flatMap(({ values }) => values)) };
}

/**
 * Each second of a round with what customers notice by then: a share of failed or slow orders over some seconds, one overdue shipment,
 * orders without any response. What is shed counts as failed as long as fewer orders than usual are served: an operator may refuse what
 * is more than usual. A scenario's metric counts as well. Pure.
 */
export function noticedBy(records: readonly DrillRecord[], measured?: Measured): readonly Noticed[] {
  const seconds = recordsOf(records, 'second');
  let first = 0;
  return seconds.map((second, index) => {
    while ((seconds[first]?.ms ?? second.ms) <= second.ms - rubric.customers.windowMs) first++;
    const found = outsideOf(seconds.slice(first, index + 1), second, measured);
    const kinds = new Set(found.map(([kind]) => kind));
    return { second, kinds, ...(found[0] !== undefined && { outside: found[0][1] }) };
  });
}

/** The most serious first. */
function outsideOf(
  window: readonly Second[],
  second: Second,
  measured: Measured | undefined,
): readonly (readonly [SymptomKind, string])[] {
  const sum = (key: 'sent' | 'good' | 'failed' | 'slow') => window.reduce((total, one) => total + one[key], 0);
  const { windowMs, least, failedShare, slowShare, ordersPerSecond } = rubric.customers;
  const [sent, good, slow] = [sum('sent'), sum('good'), sum('slow')];
  const shed = window.reduce((total, one) => total + (one.shed ?? 0), 0);
  const usual = ordersPerSecond * Math.min(window.length, windowMs / 1000);
  const missing = Math.max(0, usual - good);
  const failed = sum('failed') + Math.min(shed, missing);
  const found: (readonly [SymptomKind, string])[] = [];
  if (failed >= least && failed > failedShare * (good + failed))
    found.push(['failures', `${failed} of ${good + failed} orders failed`]);
  if (sent >= least && good + failed === 0) found.push(['failures', `${sent} orders without a response`]);
  if (slow >= least && slow > slowShare * good) found.push(['latency', `${slow} of ${good} orders were slow`]);
  if (second.overdue > 0) found.push(['shipments', `${second.overdue} shipments are overdue`]);
  const value = measured?.values.get(second.seq);
  if (measured !== undefined && value !== undefined && value > measured.above)
    found.push(['metric', `the metric is ${value}, above ${measured.above}`]);
  return found;
}

/** The first second from which on customers notice nothing for the rubric's time, after `sinceMs`. Pure. */
export function servedFrom(noticed: readonly Noticed[], sinceMs: number): Second | undefined {
  let from: Second | undefined;
  for (const { second, outside } of noticed) {
    if (second.ms < sinceMs || outside !== undefined) from = undefined;
    else if (from === undefined) from = second;
    if (from !== undefined && second.ms - from.ms >= rubric.mitigate.goodForMs) return from;
  }
  return undefined;
}
