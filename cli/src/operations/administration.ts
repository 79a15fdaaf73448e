import type { ClientConfig } from 'pg';
import { CliError } from '../errors.ts';
import type { Project } from '../platform/project.ts';
import type { InstanceState, PlatformState } from '../platform/state.ts';
import type { Address, ProviderKind } from '../providers/component.ts';
import { SUPERUSER } from '../providers/postgres/cluster.ts';
import { evaluateOnBroker } from '../providers/rabbitmq/evaluate.ts';
import { loadOrCreateSecrets } from '../providers/secrets.ts';
import { brokerUrl, databaseUrl } from '../providers/urls.ts';
import { type DatabaseName, OPERATOR_ROLE } from '../topology/databases.ts';

/** What only the supervisor may do at PostgreSQL and RabbitMQ: their superusers (decision 0087). */
export interface Administration {
  /** As PostgreSQL and RabbitMQ show its connections. */
  readonly clientName: string;
  /** One statement as PostgreSQL's superuser. Rejects with CliError (3) when the server is managed externally. */
  query<Row extends object>(
    database: DatabaseName,
    text: string,
    values?: readonly unknown[],
    limitMs?: number,
  ): Promise<Row[]>;
  /** Holds a password. Both reject with CliError (3) when the server is managed externally. */
  serviceDatabaseUrl(database: DatabaseName): Promise<string>;
  superuserDatabaseUrl(database: DatabaseName): Promise<string>;
  /**
   * Evaluates Erlang on the broker and resolves with the value as it prints it. Rejects with CliError (3) when the broker
   * is managed externally, (4) when it does not run.
   */
  askBroker(erlang: string): Promise<string>;
  /** AMQP URL of the operator's account at the broker itself; holds a password. Rejects as `askBroker`. */
  brokerUrl(): Promise<string>;
}

/** What is refused for a server that is managed externally, and what else its user can do. */
export interface Unavailable {
  readonly code: 'fault_unavailable' | 'operation_unavailable';
  /** `its faults are`, for "PostgreSQL is managed externally: its faults are not available". */
  readonly subject: string;
  /** Added to the advice about RabbitMQ. */
  readonly insteadOfBroker?: string;
}

export interface AdministrationOptions {
  readonly project: Pick<Project, 'secretsFile'>;
  state(): PlatformState;
  readonly clientName: string;
  readonly unavailable: Unavailable;
}

const STATEMENT_LIMIT_MS = 2_500;

/** Administration of the running platform. */
export function createAdministration({
  project,
  state,
  clientName,
  unavailable,
}: AdministrationOptions): Administration {
  const secrets = () => loadOrCreateSecrets(project.secretsFile);
  const superuserDatabaseUrl = async (database: DatabaseName) => {
    const { host, port } = ownPostgres(state(), unavailable);
    const { postgres } = await secrets();
    return `postgres://${SUPERUSER}:${encodeURIComponent(postgres.superuser)}@${host}:${port}/${database}`;
  };
  return {
    clientName,
    superuserDatabaseUrl,
    async serviceDatabaseUrl(database) {
      return databaseUrl('service', database, {
        address: ownPostgres(state(), unavailable),
        secrets: await secrets(),
      });
    },
    async query<Row extends object>(
      database: DatabaseName,
      text: string,
      values?: readonly unknown[],
      limitMs = STATEMENT_LIMIT_MS,
    ) {
      const connectionString = await superuserDatabaseUrl(database);
      const login = { connectionString, application_name: clientName, query_timeout: limitMs };
      return runStatement<Row>(login, text, values);
    },
    async askBroker(erlang) {
      const { provider, info = {} } = ownBroker(state(), unavailable);
      return evaluateOnBroker({ kind: provider as ProviderKind, info }, erlang);
    },
    async brokerUrl() {
      const { address } = ownBroker(state(), unavailable);
      return brokerUrl(OPERATOR_ROLE, { address, secrets: await secrets() });
    },
  };
}

/** Throws CliError: (3) when the server is managed externally, (4) when it is not running. */
function ownPostgres({ instances }: PlatformState, { code, subject }: Unavailable): Address {
  const postgres = instances.find(({ name }) => name === 'postgres');
  if (postgres?.address && postgres.provider !== 'url') return postgres.address;
  throw new CliError({
    code: postgres ? code : 'component_not_running',
    what: postgres ? `PostgreSQL is managed externally: ${subject} not available` : 'PostgreSQL is not running',
    next: postgres ? 'let the platform run PostgreSQL (--provider postgres=embedded)' : 'start it with "shopctl up"',
  });
}

/** Throws CliError: (3) when the broker is managed externally, (4) when it is not running. */
function ownBroker(
  { instances }: PlatformState,
  { code, subject, insteadOfBroker }: Unavailable,
): InstanceState & { readonly address: Address } {
  const broker = instances.find(({ name }) => name === 'rabbitmq');
  if (broker?.provider === 'url') {
    const next = 'let the platform run RabbitMQ (--provider rabbitmq=packages)';
    throw new CliError({
      code,
      what: `RabbitMQ is managed externally: ${subject} not available`,
      why: 'it is named by SHOPCTL_RABBITMQ_URL and cannot be administered with the account of a URL',
      next: insteadOfBroker === undefined ? next : `${next}, or ${insteadOfBroker}`,
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

/** One statement on a new connection: faults and operators end connections. */
async function runStatement<Row extends object>(
  login: ClientConfig,
  text: string,
  values?: readonly unknown[],
): Promise<Row[]> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ ...login, connectionTimeoutMillis: STATEMENT_LIMIT_MS });
  // A connection lost in mid-query also rejects the query; without a listener it would end this process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Row>(text, values && [...values])).rows;
  } finally {
    await client.end();
  }
}
