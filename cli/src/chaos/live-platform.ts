import pg from 'pg';
import { CliError } from '../errors.ts';
import { failpointFolder, hasFailpoints } from '../platform/failpoint-files.ts';
import type { InstanceState, PlatformState } from '../platform/state.ts';
import type { ExtensionContext } from '../platform/supervisor-extension.ts';
import type { Address, ProviderKind } from '../providers/component.ts';
import { SUPERUSER } from '../providers/postgres/cluster.ts';
import { evaluateOnBroker } from '../providers/rabbitmq/evaluate.ts';
import { loadOrCreateSecrets } from '../providers/secrets.ts';
import { brokerUrl, databaseUrl } from '../providers/urls.ts';
import { type DatabaseName, OPERATOR_ROLE } from '../topology/databases.ts';
import { createDatabaseSessions } from './database-sessions.ts';
import { findLibfaketime } from './libfaketime.ts';
import type { PlatformAccess } from './platform-access.ts';
import { createToxiproxyClient } from './toxiproxy-client.ts';

export interface LivePlatformOptions
  extends Pick<
    ExtensionContext,
    'project' | 'state' | 'act' | 'setConditions' | 'relaunch' | 'setTelemetryUnavailable'
  > {
  readonly env: NodeJS.ProcessEnv;
}

const STATEMENT_LIMIT_MS = 2_500;

/** Access to the running platform. */
export function createLivePlatform(options: LivePlatformOptions): PlatformAccess {
  const { project, env, state, act, setConditions, relaunch, setTelemetryUnavailable } = options;
  const addressOf = () => {
    const postgres = state().instances.find(({ name }) => name === 'postgres');
    if (postgres?.address && postgres.provider !== 'url') return postgres.address;
    throw new CliError({
      code: postgres ? 'fault_unavailable' : 'component_not_running',
      what: postgres ? 'PostgreSQL is managed externally: its faults are not available' : 'PostgreSQL is not running',
      next: postgres ? 'let the platform run PostgreSQL (--provider postgres=embedded)' : 'start it with "shopctl up"',
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
    setTelemetryUnavailable,
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

/** Throws CliError: (3) when the broker is managed externally, (4) when it is not running. */
function ownBroker({ instances }: PlatformState): InstanceState & { readonly address: Address } {
  const broker = instances.find(({ name }) => name === 'rabbitmq');
  if (broker?.provider === 'url') {
    throw new CliError({
      code: 'fault_unavailable',
      what: 'RabbitMQ is managed externally: its faults are not available',
      why: 'it is named by SHOPCTL_RABBITMQ_URL and cannot be administered with the account of a URL',
      next: 'let the platform run RabbitMQ (--provider rabbitmq=packages), or use network faults on orders-broker and shipping-broker',
    });
  }
  const { address } = broker ?? {};
  if (broker && address && broker.status !== 'stopped') return { ...broker, address };
  throw new CliError({
    code: 'component_not_running',
    what: 'RabbitMQ is not running',
    next: 'start it with "shopctl start rabbitmq"',
  });
}

/** One statement on a new connection: faults end connections. */
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
