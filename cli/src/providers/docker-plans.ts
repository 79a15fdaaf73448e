import { createHash } from 'node:crypto';
import type { ContainerCreateOptions } from 'dockerode';
import type { ComponentName } from '../topology/components.ts';
import type { Address, ComponentContext } from './component.ts';
import type { ContainerSpec } from './docker/container-run.ts';
import { httpProbe } from './http-probe.ts';
import { jaegerConfig } from './jaeger-config.ts';
import { SUPERUSER, serverSettings, settingArguments } from './postgres/cluster.ts';
import { postgresProbe } from './postgres/probe.ts';
import { scramVerifier } from './postgres/scram.ts';
import { refreshCluster, setUpCluster } from './postgres/set-up.ts';
import { prometheusFiles } from './prometheus/files.ts';
import { prepareFiles, refreshRules } from './prometheus/rules.ts';
import { serverArguments } from './prometheus/server.ts';
import { nothing } from './provider-checks.ts';
import { brokerDefinitions, WAL_MAX_BYTES } from './rabbitmq/configuration.ts';
import { amqpProbe } from './rabbitmq/probe.ts';
import { prometheusRelease } from './release/releases.ts';

export const containerImages: Readonly<Record<ComponentName, string>> = {
  postgres: 'postgres:17',
  rabbitmq: 'rabbitmq:4',
  toxiproxy: 'ghcr.io/shopify/toxiproxy:2.12.0',
  jaeger: 'jaegertracing/jaeger:2.13.0',
  prometheus: `prom/prometheus:${prometheusRelease.version}`,
};

/** Of the image above. */
const POSTGRES_MAJOR = 17;
/** Queues, connections and files of a broker with six clients take some dozens. */
const MAX_OPEN_FILES = 8_192;

/** What one component's container looks like, and how it is used. */
export interface ContainerPlan extends ContainerSpec {
  readonly address: Address;
  readonly info: Readonly<Record<string, string | number>>;
  readonly url?: string;
  prepare?(): Promise<void>;
  probe(signal: AbortSignal): Promise<void>;
  setUp(): Promise<void>;
  refresh?(): Promise<readonly string[]>;
}

export function planContainer(
  component: ComponentName,
  name: string,
  context: ComponentContext,
): Promise<ContainerPlan> {
  return plans[component](name, context);
}

const plans: Readonly<Record<ComponentName, (name: string, context: ComponentContext) => Promise<ContainerPlan>>> = {
  async postgres(name, context) {
    const [port = 0] = await context.ports.reserve('postgres');
    const address = { host: '127.0.0.1', port };
    const password = context.secrets.postgres.superuser;
    const superuser = { user: SUPERUSER, password, database: 'postgres' };
    const volumeName = volumeOf(name, password);
    return {
      component: 'postgres',
      name,
      volumeName,
      initialisesOnce: true,
      options: {
        Image: containerImages.postgres,
        Env: [
          // Stored as it is, and it is useless for a login: the password itself never reaches the engine.
          `POSTGRES_PASSWORD=${await scramVerifier(password)}`,
          // The image's own rule trusts connections from the container's loopback.
          'POSTGRES_INITDB_ARGS=--auth-host=scram-sha-256 --locale=C --encoding=UTF8',
        ],
        Cmd: ['postgres', ...settingArguments(serverSettings(POSTGRES_MAJOR))],
        ...published({ [port]: 5432 }, { Binds: [`${volumeName}:/var/lib/postgresql/data`] }),
      },
      address,
      info: {},
      probe: postgresProbe(address),
      setUp: async () => void (await setUpCluster({ ...context, address, superuser })),
      refresh: () => refreshCluster({ ...context, address, superuser }),
    };
  },

  async rabbitmq(name, context) {
    const [port = 0] = await context.ports.reserve('rabbitmq');
    const address = { host: '127.0.0.1', port };
    // The definitions hold password hashes only. A mounted file of ours (0600) would be unreadable for its user.
    const start = `printf %s "$SHOPCTL_DEFINITIONS" > /etc/rabbitmq/shopctl.json
printf "%s\\n" "load_definitions = /etc/rabbitmq/shopctl.json" "raft.wal_max_size_bytes = ${WAL_MAX_BYTES}" > /etc/rabbitmq/conf.d/90-shopctl.conf
# No plugin is used, and each takes time to start.
echo "[]." > /etc/rabbitmq/enabled_plugins
# Erlang makes a table as large as this limit, which many engines set to a billion. Lowering it is always allowed.
[ "$(ulimit -n)" != unlimited ] && [ "$(ulimit -n)" -le ${MAX_OPEN_FILES} ] || ulimit -n ${MAX_OPEN_FILES}
exec docker-entrypoint.sh rabbitmq-server`;
    const volumeName = volumeOf(name, context.secrets.rabbitmq.cookie);
    return {
      component: 'rabbitmq',
      name,
      volumeName,
      options: {
        Image: containerImages.rabbitmq,
        // RabbitMQ's data folder is named after the host: without a fixed name a new container would start empty.
        Hostname: 'broker',
        Env: [`SHOPCTL_DEFINITIONS=${brokerDefinitions(context.secrets)}`],
        Entrypoint: ['sh', '-c', start],
        ...published({ [port]: 5672 }, { Binds: [`${volumeName}:/var/lib/rabbitmq`] }),
      },
      address,
      info: {},
      probe: amqpProbe(address),
      setUp: nothing,
    };
  },

  async toxiproxy(name, { ports }) {
    const [port = 0] = await ports.reserve('toxiproxy');
    return {
      component: 'toxiproxy',
      name,
      options: {
        Image: containerImages.toxiproxy,
        Cmd: ['-host', '127.0.0.1', '-port', String(port)],
        // It proxies between processes on this machine, on ports chosen later.
        HostConfig: { NetworkMode: 'host' },
      },
      address: { host: '127.0.0.1', port },
      info: {},
      probe: httpProbe(`http://127.0.0.1:${port}/version`),
      setUp: nothing,
    };
  },

  async jaeger(name, { ports }) {
    const [query = 0, otlp = 0] = await ports.reserve('jaeger', 2);
    const config = jaegerConfig({ host: '0.0.0.0', query: 16_686, otlp: 4_318, grpc: 16_685 });
    return {
      component: 'jaeger',
      name,
      options: {
        Image: containerImages.jaeger,
        Cmd: [`--config=yaml:${config}`],
        ...published({ [query]: 16_686, [otlp]: 4_318 }),
      },
      address: { host: '127.0.0.1', port: query },
      info: { otlpPort: otlp },
      probe: httpProbe(`http://127.0.0.1:${query}/api/v3/services`),
      setUp: nothing,
    };
  },

  async prometheus(name, context) {
    const [port = 0] = await context.ports.reserve('prometheus');
    const url = `http://127.0.0.1:${port}`;
    const files = prometheusFiles(context.stateDir);
    const volumeName = `${name}-data`;
    return {
      component: 'prometheus',
      name,
      volumeName,
      options: {
        Image: containerImages.prometheus,
        Cmd: [...serverArguments({ configuration: files.configuration, data: '/prometheus', port })],
        HostConfig: {
          // It scrapes the supervisor, which listens on loopback.
          NetworkMode: 'host',
          // Under the same path inside, which the configuration names.
          Binds: [`${files.folder}:${files.folder}:ro`, `${volumeName}:/prometheus`],
        },
      },
      address: { host: '127.0.0.1', port },
      info: {},
      url,
      prepare: () => prepareFiles(files, context),
      probe: httpProbe(`${url}/-/ready`),
      setUp: nothing,
      refresh: () => refreshRules(files, context, url),
    };
  },
};

/**
 * Data and the passwords in it go together: a project whose state was deleted, with its secrets, starts with a separate
 * volume instead of one it cannot open. A few digits of a hash of 192 random bits disclose nothing.
 */
function volumeOf(name: string, secret: string): string {
  return `${name}-${createHash('sha256').update(secret).digest('hex').slice(0, 8)}`;
}

/** Fixed host ports on loopback: a random one would change at every restart of the container. */
function published(ports: Readonly<Record<number, number>>, host: ContainerCreateOptions['HostConfig'] = {}) {
  const pairs = Object.entries(ports).map(([outside, inside]) => ({ key: `${inside}/tcp`, outside }));
  return {
    ExposedPorts: Object.fromEntries(pairs.map(({ key }) => [key, {}])),
    HostConfig: {
      ...host,
      PortBindings: Object.fromEntries(
        pairs.map(({ key, outside }) => [key, [{ HostIp: '127.0.0.1', HostPort: outside }]]),
      ),
    },
  };
}
