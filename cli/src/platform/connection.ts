import type { Address } from '../providers/component.ts';
import { loadOrCreateSecrets, type Secrets } from '../providers/secrets.ts';
import { brokerUrl, databaseUrl } from '../providers/urls.ts';
import { type DatabaseName, databaseNames, OPERATOR_ROLE } from '../topology/databases.ts';
import { type ControlClient, createControlClient } from './control-client.ts';
import { assertNoOrphanedFaults } from './orphaned-faults.ts';
import type { Project } from './project.ts';
import type { PlatformState } from './state.ts';

/** Where a running platform can be reached. URLs hold passwords of the operator role: never print them. */
export interface PlatformConnection {
  /** Base URL of the gateway, `http://127.0.0.1:8080`. */
  readonly gatewayUrl: string;
  /** Base URL of the trace backend: `/api/v3/traces/{id}`, and the built-in store's other routes. */
  readonly telemetryUrl: string;
  /** PostgreSQL URLs of the role `shop_operator`. */
  readonly databaseUrls: Readonly<Record<DatabaseName, string>>;
  /** AMQP URL of the account `shop_operator`. */
  readonly brokerUrl: string;
  readonly state: PlatformState;
  readonly control: ControlClient;
  readonly project: Project;
}

/** Connects to the running platform of a project. Throws CliError (exit code 4) when it is not running. */
export async function connectPlatform(
  project: Project,
  env: NodeJS.ProcessEnv = process.env,
): Promise<PlatformConnection> {
  await assertNoOrphanedFaults(project);
  const control = createControlClient(project);
  const state = await control.state();
  const secrets = await loadOrCreateSecrets(project.secretsFile);
  return {
    gatewayUrl: state.gatewayUrl,
    telemetryUrl: state.telemetryUrl,
    databaseUrls: operatorDatabaseUrls(state, secrets),
    brokerUrl: operatorBrokerUrl(state, secrets, env),
    state,
    control,
    project,
  };
}

/** PostgreSQL URLs of the role that reads all databases. They hold its password: never print them. */
export function operatorDatabaseUrls(state: PlatformState, secrets: Secrets): PlatformConnection['databaseUrls'] {
  const address = addressOf('postgres', state);
  const urls = databaseNames.map((name) => [name, databaseUrl('operator', name, { address, secrets })]);
  return Object.fromEntries(urls) as Record<DatabaseName, string>;
}

/** AMQP URL of the operator's account at the broker itself. Holds a password: never print it. */
export function operatorBrokerUrl(state: PlatformState, secrets: Secrets, env: NodeJS.ProcessEnv): string {
  const externalUrl = externalBrokerUrl(state, env);
  return brokerUrl(OPERATOR_ROLE, {
    address: addressOf('rabbitmq', state),
    secrets,
    ...(externalUrl !== undefined && { externalUrl }),
  });
}

function addressOf(component: string, { instances }: PlatformState): Address {
  return instances.find(({ name }) => name === component)?.address ?? nowhere;
}

/** A component that was not started (`up catalog` needs no broker): connecting there is refused, which names the reason. */
const nowhere = { host: '127.0.0.1', port: 1 };

/** The password of a broker that is not ours is in the user's environment only. */
function externalBrokerUrl({ instances }: PlatformState, env: NodeJS.ProcessEnv): string | undefined {
  const isExternal = instances.some(({ name, provider }) => name === 'rabbitmq' && provider === 'url');
  return isExternal ? env.SHOPCTL_RABBITMQ_URL : undefined;
}
