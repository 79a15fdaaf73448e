import { type Attributes, metrics } from '@opentelemetry/api';
import type { Pool, PoolClient } from 'pg';
import { areLibrariesInstrumented } from '../telemetry/instrumentation.ts';
import { durationOf } from './durations.ts';

/**
 * Counts the connections of a pool and the callers that wait for one (`db.client.connection.*`, semantic conventions 1.44). The
 * function that it gives takes a connection by hand, as `pool.connect` does, and records how long it took to get it.
 * `url` is where the database is; its address and name are the pool's name, which no other pool of the process may have.
 */
export function observePool(pool: Pool, url: string): () => Promise<PoolClient> {
  const { hostname, port, pathname } = new URL(url);
  const series = { 'db.client.connection.pool.name': `${hostname}:${port || 5432}${decodeURIComponent(pathname)}` };
  const waitTime = durationOf('db.client.connection.wait_time');
  // The instrumentation of pg counts connections and callers itself.
  if (!areLibrariesInstrumented()) countConnections(pool, series);

  return async () => {
    const beganMs = performance.now();
    const client = await pool.connect();
    waitTime.record((performance.now() - beganMs) / 1_000, series);
    return client;
  };
}

/** Observed once per report, so that a statement costs nothing more. */
function countConnections(pool: Pool, series: Attributes): void {
  const meter = metrics.getMeter('shop');
  meter
    .createObservableUpDownCounter('db.client.connection.count', {
      description: 'Open connections by state.',
      unit: '{connection}',
    })
    .addCallback((result) => {
      result.observe(pool.idleCount, { ...series, 'db.client.connection.state': 'idle' });
      result.observe(pool.totalCount - pool.idleCount, { ...series, 'db.client.connection.state': 'used' });
    });
  meter
    .createObservableUpDownCounter('db.client.connection.pending_requests', {
      description: 'Callers that wait for a connection.',
      unit: '{request}',
    })
    .addCallback((result) => result.observe(pool.waitingCount, series));
}
