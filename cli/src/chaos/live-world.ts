import { join } from 'node:path';
import pg from 'pg';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { DatabaseName } from '../platform/connection.ts';
import type { Project } from '../platform/project.ts';
import type { PlatformState } from '../platform/state.ts';
import { SUPERUSER } from '../providers/postgres/cluster.ts';
import { loadOrCreateSecrets } from '../providers/secrets.ts';
import { databaseUrl } from '../providers/urls.ts';
import { createDatabaseSessions } from './database-sessions.ts';
import { createToxiproxyClient } from './toxiproxy-client.ts';
import type { World } from './world.ts';

export interface LiveWorldOptions {
  readonly project: Project;
  readonly env: NodeJS.ProcessEnv;
  state(): PlatformState;
  act(name: string, action: 'start' | 'stop' | 'restart'): Promise<void>;
}

const STATEMENT_LIMIT_MS = 2_500;

/** What faults act on while the platform runs. */
export function createLiveWorld({ project, env, state, act }: LiveWorldOptions): World {
  const addressOf = () => {
    const postgres = state().instances.find(({ name }) => name === 'postgres');
    if (postgres?.address && postgres.provider !== 'url') return postgres.address;
    throw new CliError({
      what: postgres ? 'PostgreSQL is not ours: its faults cannot be injected' : 'PostgreSQL does not run',
      next: postgres
        ? 'run the platform with one of its own (--provider postgres=embedded)'
        : 'start it with "shopctl up"',
      exitCode: postgres ? exitCodes.unavailable : exitCodes.notRunning,
    });
  };
  const superuserDatabaseUrl = async (database: DatabaseName) => {
    const { host, port } = addressOf();
    const { postgres } = await loadOrCreateSecrets(project.secretsFile);
    return `postgres://${SUPERUSER}:${encodeURIComponent(postgres.superuser)}@${host}:${port}/${database}`;
  };
  return {
    isLive: true,
    state,
    act,
    toxiproxy: (apiUrl) => createToxiproxyClient(apiUrl),
    superuserDatabaseUrl,
    async serviceDatabaseUrl(database) {
      const secrets = await loadOrCreateSecrets(project.secretsFile);
      return databaseUrl('service', database, { address: addressOf(), secrets });
    },
    async query<Row extends object>(database: DatabaseName, text: string, values?: readonly unknown[]) {
      return runStatement<Row>(await superuserDatabaseUrl(database), text, values);
    },
    sessions: createDatabaseSessions(),
    failpointDir: env.SHOPCTL_FAILPOINTS === '1' ? join(project.stateDir, 'failpoints') : undefined,
  };
}

/** One statement on a connection of its own: faults end connections. */
async function runStatement<Row extends object>(
  connectionString: string,
  text: string,
  values?: readonly unknown[],
): Promise<Row[]> {
  const client = new pg.Client({
    connectionString,
    application_name: 'shopctl-chaos',
    connectionTimeoutMillis: STATEMENT_LIMIT_MS,
    query_timeout: STATEMENT_LIMIT_MS,
  });
  // A connection lost in mid-query also rejects the query; without a listener it would end this process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(text, values && [...values])).rows;
  } finally {
    await client.end();
  }
}
