import { type DrillRecord, type RecordOf, recordsOf } from '../journal/records.ts';
import { rubric } from './rubric.ts';

type Second = RecordOf<'second'>;

/** What customers notice in a second of a round. */
export interface Noticed {
  readonly second: Second;
  /** Outside of an objective: what, for people. */
  readonly outside?: string;
}

/**
 * Each second of a round with what customers notice by then: a share of failed or slow orders over some seconds, one overdue shipment,
 * orders without any response. A scenario's metric counts as well. Pure.
 */
export function noticedBy(records: readonly DrillRecord[], above?: number): readonly Noticed[] {
  const seconds = recordsOf(records, 'second');
  let first = 0;
  return seconds.map((second, index) => {
    while ((seconds[first]?.ms ?? second.ms) <= second.ms - rubric.customers.windowMs) first++;
    const outside = outsideOf(seconds.slice(first, index + 1), second, above);
    return outside === undefined ? { second } : { second, outside };
  });
}

function outsideOf(window: readonly Second[], second: Second, above: number | undefined): string | undefined {
  const sum = (key: 'sent' | 'good' | 'failed' | 'slow') => window.reduce((total, one) => total + one[key], 0);
  const [sent, good, failed, slow] = [sum('sent'), sum('good'), sum('failed'), sum('slow')];
  const { least, failedShare, slowShare } = rubric.customers;
  if (failed >= least && failed > failedShare * (good + failed)) return `${failed} of ${good + failed} orders failed`;
  if (sent >= least && good + failed === 0) return `${sent} orders without a response`;
  if (slow >= least && slow > slowShare * good) return `${slow} of ${good} orders were slow`;
  if (second.overdue > 0) return `${second.overdue} shipments are overdue`;
  if (above !== undefined && (second.metric ?? 0) > above) return `the metric is ${second.metric}, above ${above}`;
  return undefined;
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
