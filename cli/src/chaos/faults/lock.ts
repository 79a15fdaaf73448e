import { Type } from 'typebox';
import { quoted } from '../../providers/postgres/quoted.ts';
import { mainTables } from '../../topology/databases.ts';
import { countSessions, databaseOf, endSessions, type SessionRecord, verifyNoSessions } from '../database-faults.ts';
import { sessionName } from '../database-sessions.ts';
import { defineFault } from '../fault.ts';
import { toWitness } from './toxic-fault.ts';

const parameters = Type.Object(
  {
    table: Type.Optional(
      Type.String({ pattern: '^[A-Za-z_]+$', description: 'table to lock (default: the main table of the service)' }),
    ),
  },
  { additionalProperties: false },
);

/** Running statements may end first; longer ones fail the lock. */
const LOCK_TIMEOUT = '3s';
/** A statement that waits so long is taken as blocked by the lock. */
const PROBE_TIMEOUT = '100ms';

/** Every statement on the table waits, reads too, until its own time limit. */
export const lock = defineFault<typeof parameters, SessionRecord>({
  name: 'lock',
  kind: 'database',
  scope: 'database',
  title: 'a table is locked (ACCESS EXCLUSIVE): every statement on it waits',
  parameters,
  defaults: { parameters: {} },
  prepare: async ({ id, target, hidden }) => ({
    id,
    database: databaseOf(target),
    application: sessionName({ id, hidden }),
  }),
  async inject({ parameters: { table } }, { id, database, application }, platform) {
    const client = await platform.sessions.open(id, await platform.superuserDatabaseUrl(database), application);
    await client.query(`SET lock_timeout = '${LOCK_TIMEOUT}'`);
    await client.query('BEGIN');
    await client.query(`LOCK TABLE ${quoted(table ?? mainTables[database])} IN ACCESS EXCLUSIVE MODE`);
  },
  async witness({ parameters: { table } }, { database }, platform) {
    const name = table ?? mainTables[database];
    const code = await platform
      .query(database, `SET LOCAL lock_timeout = '${PROBE_TIMEOUT}'; SELECT 1 FROM ${quoted(name)} LIMIT 1`)
      .then(
        () => undefined,
        (error: { code?: unknown }) => error.code,
      );
    // 55P03 lock_not_available
    return toWitness(
      code === '55P03',
      `a read of ${name} ${code === '55P03' ? `waits (gave up after ${PROBE_TIMEOUT})` : 'does not wait'}`,
    );
  },
  // The lock is held by a transaction of this connection, and ends with either.
  isInPlace: async (record, platform) => (await countSessions(record, platform)) > 0,
  undo: endSessions,
  verify: verifyNoSessions,
});
