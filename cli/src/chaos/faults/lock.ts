import { Type } from 'typebox';
import {
  countSessions,
  databaseOf,
  endSessions,
  mainTables,
  quoted,
  type SessionRecord,
  verifyNoSessions,
} from '../database-faults.ts';
import { defineFault } from '../fault.ts';
import { judged } from './toxic-fault.ts';

const parameters = Type.Object(
  { table: Type.Optional(Type.String({ pattern: '^[A-Za-z_]+$', description: "default: the service's main one" })) },
  { additionalProperties: false },
);

/** Statements under way may end first; longer ones refuse the lock. */
const LOCK_TIMEOUT = '3s';
/** A lock that everybody waits for is seen by who waits so long. */
const PROBE_TIMEOUT = '100ms';

/** Every statement on the table waits, reads too, until its own time limit. */
export const lock = defineFault<typeof parameters, SessionRecord>({
  name: 'lock',
  kind: 'database',
  scope: 'database',
  title: 'a table is locked (ACCESS EXCLUSIVE): every statement on it waits',
  parameters,
  defaults: { parameters: {} },
  prepare: async ({ id, target }) => ({ id, database: databaseOf(target) }),
  async inject({ parameters: { table } }, { id, database }, world) {
    const client = await world.sessions.open(id, await world.superuserDatabaseUrl(database));
    await client.query(`SET lock_timeout = '${LOCK_TIMEOUT}'`);
    await client.query('BEGIN');
    await client.query(`LOCK TABLE ${quoted(table ?? mainTables[database])} IN ACCESS EXCLUSIVE MODE`);
  },
  async witness({ parameters: { table } }, { database }, world) {
    const name = table ?? mainTables[database];
    const code = await world
      .query(database, `SET LOCAL lock_timeout = '${PROBE_TIMEOUT}'; SELECT 1 FROM ${quoted(name)} LIMIT 1`)
      .then(
        () => undefined,
        (error: { code?: unknown }) => error.code,
      );
    // 55P03 lock_not_available
    return judged(
      code === '55P03',
      `a read of ${name} ${code === '55P03' ? `waits (gave up after ${PROBE_TIMEOUT})` : 'does not wait'}`,
    );
  },
  // The lock is held by a transaction of this connection, and ends with either.
  isInPlace: async ({ id, database }, world) => (await countSessions(id, database, world)) > 0,
  undo: endSessions,
  verify: verifyNoSessions,
});
