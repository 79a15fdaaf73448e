import { type ByStatus, sumOf } from '../audit/invariants/metrics.ts';
import { reportsOf } from '../audit/read-metrics.ts';
import type { TelemetryBackend } from '../trace/backend.ts';

/** The counters of all processes of orders at their last reports. Times in ms since 1970. */
export interface CounterReading {
  readonly sagas: ByStatus;
  readonly durations: ByStatus;
  /** Sum of all values of `shop.saga.duration`, ms. */
  readonly durationSumMs: number;
  /** Oldest and newest report of the processes that run. */
  readonly oldest: number;
  readonly newest: number;
}

/** Reads them. Throws when no process of orders reports. */
export async function readCounters(telemetry: Pick<TelemetryBackend, 'metrics'>): Promise<CounterReading> {
  const points = await telemetry.metrics(['shop.sagas', 'shop.saga.duration', 'shop.outbox.pending']);
  const reports = reportsOf(points);
  const times = reports.filter(({ ended }) => !ended).map(({ reportedAt }) => reportedAt);
  if (times.length === 0) throw new Error('no process of orders reports metrics');
  return {
    sagas: sumOf(reports.map(({ sagas }) => sagas)),
    durations: sumOf(reports.map(({ durations }) => durations)),
    durationSumMs: points.reduce((sum, point) => sum + (point.type === 'histogram' ? point.sum : 0), 0),
    oldest: Math.min(...times),
    newest: Math.max(...times),
  };
}
