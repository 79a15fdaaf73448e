import { type Attributes, metrics, type ObservableResult } from '@opentelemetry/api';
import type { Pool, PoolClient } from 'pg';
import { areLibrariesInstrumented } from '../telemetry/instrumentation.ts';
import { durationOf } from './durations.ts';

/** The disposal ends the counting. */
export interface ObservedPool extends Disposable {
  /** Takes a connection by hand, as `pool.connect` does, and records how long it took to get it. */
  connect(): Promise<PoolClient>;
}

/**
 * Counts the connections of a pool and the callers that wait for one (`db.client.connection.*`, semantic conventions 1.44).
 * `url` is where the database is; its address and name are the pool's name, with its `purpose` where it has one. No other
 * pool of the process may have that name: one of two equal series would be lost.
 */
export function observePool(pool: Pool, url: string, purpose?: string): ObservedPool {
  const { hostname, port, pathname } = new URL(url);
  const place = `${hostname}:${port || 5432}${decodeURIComponent(pathname)}`;
  const series = { 'db.client.connection.pool.name': purpose === undefined ? place : `${place} ${purpose}` };
  const waitTime = durationOf('db.client.connection.wait_time');
  // The instrumentation of pg counts connections and callers itself.
  const counted = areLibrariesInstrumented() ? undefined : countConnections(pool, series);

  return {
    async connect() {
      const beganMs = performance.now();
      const client = await pool.connect();
      waitTime.record((performance.now() - beganMs) / 1_000, series);
      return client;
    },
    [Symbol.dispose]: () => counted?.[Symbol.dispose](),
  };
}

/** Observed once per report, so that a statement costs nothing more. */
function countConnections(pool: Pool, series: Attributes): Disposable {
  const meter = metrics.getMeter('shop');
  const counts = meter.createObservableUpDownCounter('db.client.connection.count', {
    description: 'Open connections by state.',
    unit: '{connection}',
  });
  const waiting = meter.createObservableUpDownCounter('db.client.connection.pending_requests', {
    description: 'Callers that wait for a connection.',
    unit: '{request}',
  });
  const observeCounts = (result: ObservableResult) => {
    result.observe(pool.idleCount, { ...series, 'db.client.connection.state': 'idle' });
    result.observe(pool.totalCount - pool.idleCount, { ...series, 'db.client.connection.state': 'used' });
  };
  const observeWaiting = (result: ObservableResult) => result.observe(pool.waitingCount, series);
  counts.addCallback(observeCounts);
  waiting.addCallback(observeWaiting);
  return {
    [Symbol.dispose]() {
      counts.removeCallback(observeCounts);
      waiting.removeCallback(observeWaiting);
    },
  };
}
