import { Type } from 'typebox';
import { quoted } from '../../providers/postgres/quoted.ts';
import { waitUntil } from '../../shared/wait-until.ts';
import { type DatabaseName, mainTables } from '../../topology/databases.ts';
import { databaseOf, hasServer, waitsForStart } from '../database-faults.ts';
import { defineFault } from '../fault.ts';
import type { PlatformAccess } from '../platform-access.ts';
import { toWitness } from './toxic-fault.ts';

const BACK_LIMIT_MS = 3_000;
const END_SERVICE_BACKENDS =
  'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND usename = $1';

const SETTING = `SELECT 1 FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole JOIN pg_database d ON d.oid = s.setdatabase
  WHERE r.rolname = $1 AND d.datname = $1 AND 'default_transaction_read_only=on' = ANY (s.setconfig)`;

interface ReadOnly {
  readonly id: string;
  readonly database: DatabaseName;
}

/** The service can read and not write, as on a standby or a full disk; it is the only fault that is kept in the data. */
export const readOnly = defineFault<ReturnType<typeof Type.Object>, ReadOnly>({
  name: 'read-only',
  kind: 'database',
  scope: 'database',
  title: "the service's transactions are read-only: every write is refused (25006)",
  parameters: Type.Object({}, { additionalProperties: false }),
  defaults: { parameters: {} },
  needsPlatform: true,
  prepare: async ({ id, target }) => ({ id, database: databaseOf(target) }),
  async inject(_, { database }, platform) {
    await setReadOnly(database, 'SET default_transaction_read_only = on', platform);
  },
  async witness(_, record, platform) {
    const code = await refusalOfWrite(record, platform);
    return toWitness(
      code === '25006',
      `a write as ${record.database} is ${code === '25006' ? 'refused (25006)' : 'taken'}`,
    );
  },
  async isInPlace({ database }, platform) {
    return (await platform.query(database, SETTING, [database])).length > 0;
  },
  async undo({ database }, platform) {
    if (!hasServer(platform)) throw waitsForStart();
    await setReadOnly(database, 'RESET default_transaction_read_only', platform);
  },
  verify: (record, platform) =>
    waitUntil('writes to be taken', BACK_LIMIT_MS, async () => {
      return (await refusalOfWrite(record, platform)) === '25006'
        ? undefined
        : `a write as ${record.database} is taken`;
    }),
});

/** The role's setting counts for new connections, so those it has are ended. */
async function setReadOnly(database: DatabaseName, setting: string, platform: PlatformAccess): Promise<void> {
  await platform.query(database, `ALTER ROLE ${quoted(database)} IN DATABASE ${quoted(database)} ${setting}`);
  await platform.query(database, END_SERVICE_BACKENDS, [database]);
}

/** SQLSTATE with which a write of nothing is refused to a new connection of the service's role; undefined when taken. */
async function refusalOfWrite({ id, database }: ReadOnly, platform: PlatformAccess): Promise<string | undefined> {
  const client = await platform.sessions.open(id, await platform.serviceDatabaseUrl(database), platform.clientName);
  try {
    // Read-only is checked before the role's rights, so that it does not matter whether it may delete.
    await client.query(`DELETE FROM ${quoted(mainTables[database])} WHERE false`);
    return undefined;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === undefined) throw error;
    return code;
  } finally {
    await platform.sessions.close(id);
  }
}
