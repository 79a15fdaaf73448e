import { Type } from 'typebox';
import { httpPort } from '../../platform/state.ts';
import { waitUntil } from '../../shared/wait-until.ts';
import type { DatabaseName } from '../../topology/databases.ts';
import { databaseOf, hasServer } from '../database-faults.ts';
import { defineFault } from '../fault.ts';
import { instancesOf } from '../instances.ts';
import { toWitness } from './toxic-fault.ts';

interface Terminated {
  readonly database: DatabaseName;
  /** Backends that served the service before. */
  readonly pids: readonly number[];
}

const GONE_LIMIT_MS = 2_000;
const BACK_LIMIT_MS = 15_000;
const OWN_BACKENDS = 'SELECT pid FROM pg_stat_activity WHERE datname = $1 AND usename = $1';

/** Every connection of the service to its database ends with an error (57P01). */
export const terminate = defineFault<ReturnType<typeof Type.Object>, Terminated>({
  name: 'terminate',
  kind: 'database',
  scope: 'database',
  title: "the service's connections to its database are ended by the server",
  parameters: Type.Object({}, { additionalProperties: false }),
  defaults: { parameters: {} },
  isMomentary: true,
  undoLimitMs: BACK_LIMIT_MS + 5_000,
  async prepare({ target }, platform) {
    const database = databaseOf(target);
    const rows = await platform.query<{ pid: number }>(database, OWN_BACKENDS, [database]);
    return { database, pids: rows.map(({ pid }) => pid) };
  },
  async inject(_, { database, pids }, platform) {
    await platform.query(database, 'SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [pids]);
  },
  async witness(_, { database, pids }, platform) {
    if (pids.length === 0) return { verdict: 'not_observed', evidence: 'the service had no connection' };
    const left = await waitUntil('the backends to end', GONE_LIMIT_MS, async () => {
      const rows = await platform.query<{ pid: number }>(database, OWN_BACKENDS, [database]);
      return rows.some(({ pid }) => pids.includes(pid)) ? undefined : 0;
    }).catch(() => 1); // Only the limit ends the wait.
    return toWitness(
      left === 0,
      `${pids.length} backend(s) of ${database} ${left === 0 ? 'are gone' : 'are still there'}`,
    );
  },
  // The service reconnects itself.
  undo: async () => undefined,
  async verify({ database }, platform) {
    if (!hasServer(platform)) return 'PostgreSQL has ended, and its connections with it';
    return waitUntil(`${database} to be ready`, BACK_LIMIT_MS, async () => {
      const instance = instancesOf(database, platform)[0];
      if (!instance) return 'the service is not running';
      const response = await fetch(`http://127.0.0.1:${httpPort(instance)}/health/ready`, {
        signal: AbortSignal.timeout(2_000),
      }).catch(() => undefined); // It may be restarting; the limit ends the wait.
      return response?.ok ? `${database} is ready, its database included` : undefined;
    });
  },
});
