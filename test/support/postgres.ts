import { randomBytes } from 'node:crypto';
import type { ComponentContext, Launch } from '../../cli/src/providers/component.ts';
import { withClient } from '../../cli/src/providers/postgres/client.ts';
import { SUPERUSER } from '../../cli/src/providers/postgres/cluster.ts';
import { databaseUrl } from '../../cli/src/providers/urls.ts';
import { type DatabaseName, databaseNames, OPERATOR_ROLE } from '../../cli/src/topology/databases.ts';

/** URLs of one test file's own database, by role. */
export interface TestDatabase {
  /** As the service itself: data only. */
  readonly url: string;
  readonly ownerUrl: string;
  /** Reads all; for assertions. */
  readonly operatorUrl: string;
  /** May do anything, in all databases of the run: touch no other than this one. */
  readonly superuserUrl: string;
}

/** Copies a migrated database of the cluster, which has no connections, under a new name. */
export async function copyDatabase(
  database: DatabaseName,
  launch: Launch,
  { secrets }: ComponentContext,
): Promise<TestDatabase> {
  const copy = `${database}_${randomBytes(6).toString('hex')}`;
  const superuser = {
    ...launch.address,
    user: SUPERUSER,
    password: secrets.postgres.superuser,
    database: 'postgres',
  };
  await withClient(superuser, async (client) => {
    await client.query(`CREATE DATABASE ${copy} TEMPLATE ${database} OWNER ${database}_owner`);
    // Rights on the database itself are not copied.
    await client.query(`REVOKE ALL ON DATABASE ${copy} FROM PUBLIC`);
    await client.query(`GRANT CONNECT ON DATABASE ${copy} TO ${database}, ${OPERATOR_ROLE}`);
  });
  const urlOf = (role: 'service' | 'owner' | 'operator') => {
    const url = new URL(databaseUrl(role, database, { address: launch.address, secrets }));
    url.pathname = `/${copy}`;
    return url.href;
  };
  const { host, port, user, password } = superuser;
  return {
    url: urlOf('service'),
    ownerUrl: urlOf('owner'),
    operatorUrl: urlOf('operator'),
    superuserUrl: `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/${copy}`,
  };
}

export function isDatabaseName(name: string): name is DatabaseName {
  return (databaseNames as readonly string[]).includes(name);
}
