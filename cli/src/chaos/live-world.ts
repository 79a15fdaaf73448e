import pg from 'pg';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { DatabaseName } from '../platform/connection.ts';
import { failpointFolder, hasFailpoints } from '../platform/failpoint-files.ts';
import type { InstanceState, PlatformState } from '../platform/state.ts';
import type { ExtensionContext } from '../platform/supervisor-extension.ts';
import type { Address, ProviderKind } from '../providers/component.ts';
import { SUPERUSER } from '../providers/postgres/cluster.ts';
import { evaluateOnBroker } from '../providers/rabbitmq/evaluate.ts';
import { loadOrCreateSecrets } from '../providers/secrets.ts';
import { brokerUrl, databaseUrl } from '../providers/urls.ts';
import { OPERATOR_ROLE } from '../topology/databases.ts';
import { createDatabaseSessions } from './database-sessions.ts';
import { findLibfaketime } from './libfaketime.ts';
import { createToxiproxyClient } from './toxiproxy-client.ts';
import type { World } from './world.ts';

export interface LiveWorldOptions
  extends Pick<ExtensionContext, 'project' | 'state' | 'act' | 'setConditions' | 'relaunch' | 'setTelemetryAway'> {
  readonly env: NodeJS.ProcessEnv;
}

const STATEMENT_LIMIT_MS = 2_500;

/** What faults act on while the platform runs. */
export function createLiveWorld(options: LiveWorldOptions): World {
  const { project, env, state, act, setConditions, relaunch, setTelemetryAway } = options;
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
    setConditions,
    relaunch,
    setTelemetryAway,
    toxiproxy: (apiUrl) => createToxiproxyClient(apiUrl),
    superuserDatabaseUrl,
    async serviceDatabaseUrl(database) {
      const secrets = await loadOrCreateSecrets(project.secretsFile);
      return databaseUrl('service', database, { address: addressOf(), secrets });
    },
    async query<Row extends object>(database: DatabaseName, text: string, values?: readonly unknown[]) {
      return runStatement<Row>(await superuserDatabaseUrl(database), text, values);
    },
    async askBroker(erlang) {
      const { provider, info = {} } = ownBroker(state());
      return evaluateOnBroker({ kind: provider as ProviderKind, info }, erlang);
    },
    async brokerUrl() {
      const { address } = ownBroker(state());
      return brokerUrl(OPERATOR_ROLE, { address, secrets: await loadOrCreateSecrets(project.secretsFile) });
    },
    libfaketime: () => findLibfaketime({ cacheDir: project.cacheDir, env }),
    sessions: createDatabaseSessions(),
    failpointDir: hasFailpoints(env) ? failpointFolder(project) : undefined,
  };
}

/** Throws CliError: (3) when the broker is not ours, (4) when it does not run. */
function ownBroker({ instances }: PlatformState): InstanceState & { readonly address: Address } {
  const broker = instances.find(({ name }) => name === 'rabbitmq');
  if (broker?.provider === 'url') {
    throw new CliError({
      what: 'RabbitMQ is not ours: its faults cannot be injected',
      why: 'it is named by SHOPCTL_RABBITMQ_URL and cannot be administered with the account of a URL',
      next: 'run the platform with one of its own (--provider rabbitmq=packages), or use network faults on orders-broker and shipping-broker',
      exitCode: exitCodes.unavailable,
    });
  }
  const { address } = broker ?? {};
  if (broker && address && broker.status !== 'stopped') return { ...broker, address };
  throw new CliError({
    what: 'RabbitMQ does not run',
    next: 'start it with "shopctl start rabbitmq"',
    exitCode: exitCodes.notRunning,
  });
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
