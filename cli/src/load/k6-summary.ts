import { readFile } from 'node:fs/promises';
import { messageOf } from '../errors.ts';

/** One threshold of a run and what became of it. */
export interface Threshold {
  /** `order_duration{phase:whole}` */
  readonly metric: string;
  /** `p(95)<1000` */
  readonly condition: string;
  readonly isMet: boolean;
  /** What was measured, in words. */
  readonly observed: string;
}

/** What k6 says about a whole run, as far as it is needed here. */
export interface K6Summary {
  readonly thresholds: readonly Threshold[];
  /** Orders that were not started because no user was free, of the whole run. */
  readonly dropped: number;
  readonly vusMax: number | undefined;
}

interface Metric {
  readonly type?: string;
  readonly contains?: string;
  readonly values?: Readonly<Record<string, number>>;
  readonly thresholds?: Readonly<Record<string, { readonly ok?: boolean }>>;
}

/** Resolves with the reason, as a text, when there is no summary that can be read: k6 ended before its end. */
export async function readSummary(file: string): Promise<K6Summary | string> {
  try {
    return parseSummary(await readFile(file, 'utf8'));
  } catch (error) {
    return messageOf(error);
  }
}

/** Reads what `handleSummary` was given. Throws when it is not of that form. */
export function parseSummary(text: string): K6Summary {
  const { metrics } = JSON.parse(text) as { metrics?: Readonly<Record<string, Metric>> };
  if (metrics === undefined) throw new Error('the summary of k6 has no metrics');
  const thresholds = Object.entries(metrics).flatMap(([metric, measured]) =>
    Object.entries(measured.thresholds ?? {}).map(([condition, { ok }]): Threshold => {
      if (typeof ok !== 'boolean')
        throw new Error(`the summary of k6 does not say what became of ${metric} ${condition}`);
      return { metric, condition, isMet: ok, observed: describeValues(condition, measured) };
    }),
  );
  return {
    thresholds,
    dropped: metrics.dropped_iterations?.values?.count ?? 0,
    vusMax: metrics.vus_max?.values?.max,
  };
}

/** The value that a condition is about: `p(95) is 214.3 ms`. */
function describeValues(condition: string, { values = {}, contains, type }: Metric): string {
  const [name = ''] = condition.split(/[<>=!]/);
  const value = values[name.trim()];
  if (value === undefined) return 'nothing was measured';
  if (type === 'rate')
    return `${(value * 100).toFixed(2)} % (${values.passes} of ${(values.passes ?? 0) + (values.fails ?? 0)})`;
  return `${Math.round(value * 10) / 10}${contains === 'time' ? ' ms' : ''}`;
}
