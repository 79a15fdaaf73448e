import type { MetricPoint } from '../../../otlp/metric-store.ts';
import type { MetricProbe } from '../../format/schema.ts';
import { COUNTERS, gained, matching, numberOf, readFresh, silenceOf, unknownTag } from '../counters.ts';
import type { RunContext } from '../run-context.ts';
import { type StepResult, unknown } from '../step-result.ts';
import { describeTolerance, isWithin, round } from '../tolerance.ts';

/**
 * Probes a metric. Gauges are those of living processes; counters include what ended processes had counted. A gauge
 * without a report is unknown, never 0.
 */
export async function probeMetric({ provider, tolerance }: MetricProbe, context: RunContext): Promise<StepResult> {
  const { name, of } = provider;
  const expected = `${name} ${describeTolerance(tolerance)}`;
  const values = await valuesOf(provider, context);
  if (typeof values === 'string') return unknown(values, { expected });
  const wanted = of === 'each' ? values : [combine(values, of)];
  const isHeld = wanted.every((value) => isWithin(value, tolerance));
  return { verdict: isHeld ? 'pass' : 'fail', expected, observed: `${name} ${wanted.map(round).join(', ')}` };
}

/** Values now, or what was gained since a baseline; or why there are none. */
async function valuesOf(
  { name, where = {}, since }: MetricProbe['provider'],
  { platform: { telemetry }, baselines, clock, signal }: RunContext,
): Promise<readonly number[] | string> {
  const baseline = since === undefined ? undefined : baselines.get(since)?.counters;
  if (since !== undefined && baseline === undefined) return `the counters at "${since}" are not known`;
  const reading = await readFresh(telemetry, [name], { clock, signal });
  if (reading === undefined) return 'services do not report metrics';
  const { points } = reading;
  const tag = unknownTag(points, where);
  if (tag !== undefined) return tag;
  const counted = baseline === undefined ? matching(points, where).filter(isCurrent) : points;
  if (counted.length === 0) {
    if (!(COUNTERS as readonly string[]).includes(name)) return `no process reports ${name}`;
    return silenceOf(reading, name, where) ?? [0];
  }
  return baseline === undefined ? counted.map(numberOf) : [gained(points, baseline, where)];
}

/** What an ended process counted stays true; its gauges say nothing any more. */
function isCurrent({ stale, type }: MetricPoint): boolean {
  return !stale || type === 'counter';
}

function combine(values: readonly number[], of: 'sum' | 'max' | 'min'): number {
  if (of === 'max') return Math.max(...values);
  return of === 'min' ? Math.min(...values) : values.reduce((sum, value) => sum + value, 0);
}
