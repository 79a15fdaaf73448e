import type { MetricProbe } from '../../format/schema.ts';
import { COUNTERS, gained, matching, numberOf, readFresh, shownFrom, silenceOf, unknownTag } from '../counters.ts';
import { type StepResult, unknown } from '../outcome.ts';
import type { RunContext } from '../run-context.ts';
import { describeTolerance, isWithin, round } from '../tolerance.ts';

/**
 * Looks at a metric. Gauges are those of living processes; counters include what ended processes had counted. A gauge
 * nobody reports is unknown, never 0.
 */
export async function lookAtMetric({ provider, tolerance }: MetricProbe, context: RunContext): Promise<StepResult> {
  const { name, where = {}, of, since } = provider;
  const expected = `${name} ${describeTolerance(tolerance)}`;
  const values = since === undefined ? await current(provider, context) : await difference(name, where, since, context);
  if (typeof values === 'string') return unknown(values, { expected });
  const wanted = of === 'each' ? values : [combine(values, of)];
  const isHeld = wanted.every((value) => isWithin(value, tolerance));
  return { outcome: isHeld ? 'held' : 'deviated', expected, observed: `${name} ${wanted.map(round).join(', ')}` };
}

/** Values, or why there are none. */
async function current(
  { name, where = {} }: MetricProbe['provider'],
  { platform: { telemetry }, clock, signal }: RunContext,
): Promise<readonly number[] | string> {
  // Only such a report shows what has happened until now.
  const since = shownFrom(name, clock.date().getTime());
  const reading = await readFresh(telemetry, [name], { since, clock, signal });
  if (reading === undefined) return 'services do not report metrics';
  const tag = unknownTag(reading.points, where);
  if (tag !== undefined) return tag;
  const points = matching(reading.points, where).filter((point) => !point.stale || point.type === 'counter');
  if (points.length > 0) return points.map(numberOf);
  if (!(COUNTERS as readonly string[]).includes(name)) return `no process reports ${name}`;
  return silenceOf(reading, name, where) ?? [0];
}

async function difference(
  name: string,
  where: Readonly<Record<string, string>>,
  since: string,
  { platform: { telemetry }, marks, clock, signal }: RunContext,
): Promise<readonly number[] | string> {
  const mark = marks.get(since);
  if (mark?.counters === undefined) return `the counters at "${since}" are not known`;
  const reading = await readFresh(telemetry, [name], { since: clock.date().getTime(), clock, signal });
  if (reading === undefined) return 'services do not report metrics';
  const { points } = reading;
  if (points.length === 0 && !(COUNTERS as readonly string[]).includes(name)) return `no process reports ${name}`;
  const tag = unknownTag(points, where);
  if (tag !== undefined) return tag;
  const silence = points.length === 0 ? silenceOf(reading, name, where) : undefined;
  if (silence !== undefined) return silence;
  return [gained(points, mark.counters, where)];
}

function combine(values: readonly number[], of: 'sum' | 'max' | 'min'): number {
  if (of === 'max') return Math.max(...values);
  return of === 'min' ? Math.min(...values) : values.reduce((sum, value) => sum + value, 0);
}
