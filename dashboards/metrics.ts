import { type MetricKind, metricName } from '../cli/src/otlp/prometheus-names.ts';
import { suggestName } from '../cli/src/shared/suggest-name.ts';
import { seriesIn, syntaxErrorOf } from './promql.ts';

/** An instrument of docs/metrics.md. */
export interface Instrument {
  readonly name: string;
  readonly kind: MetricKind;
  /** As Prometheus has it, without the `_bucket`, `_sum`, `_count` of a histogram. */
  readonly metric: string;
}

const kinds: Readonly<Record<string, MetricKind>> = {
  counter: 'counter',
  histogram: 'histogram',
  gauge: 'gauge',
  'up-down counter': 'upDownCounter',
};

/** The instruments in the text of docs/metrics.md. Throws for a row whose kind is unknown. */
export function instrumentsIn(page: string): readonly Instrument[] {
  return page
    .split('\n')
    .filter((line) => /^\| (Shop|shop)\b/.test(line))
    .flatMap((line) => {
      const [, , names = '', kindText = '', unit = ''] = line.split('|').map((cell) => cell.trim());
      const kind = kinds[kindText];
      if (kind === undefined) throw new Error(`docs/metrics.md: unknown kind "${kindText}"`);
      return [...names.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => ({
        name,
        kind,
        metric: metricName(name, unit, kind),
      }));
    });
}

/** The series of an instrument by name. */
export function seriesOfInstrument({ metric, kind }: Instrument): readonly string[] {
  return kind === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => `${metric}${suffix}`) : [metric];
}

/** Series that no instrument makes: the attributes of processes, and what Prometheus adds. */
export const OTHER_SERIES = ['target_info', 'ALERTS', 'up'] as const;

/** What is wrong with an expression: it is not PromQL, or reads what no process exports and no rule records. */
export function problemsOfExpression(expr: string, known: ReadonlySet<string>): readonly string[] {
  const error = syntaxErrorOf(expr);
  if (error !== undefined) return [error];
  return seriesIn(expr)
    .filter((name) => !known.has(name))
    .map((name) => {
      const nearest = suggestName(name, [...known]);
      return `no process exports ${name}${nearest === undefined ? '' : `, did you mean ${nearest}?`}`;
    });
}
