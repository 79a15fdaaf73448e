import type { ContainerCreateOptions } from 'dockerode';
import type { Address, ComponentContext, ComponentName } from './component.ts';
import { httpProbe } from './http-probe.ts';
import { jaegerConfig } from './jaeger-config.ts';
import { SUPERUSER } from './postgres/cluster.ts';
import { postgresProbe } from './postgres/probe.ts';
import { setUpCluster } from './postgres/set-up.ts';
import { nothing } from './provider-checks.ts';
import { brokerDefinitions } from './rabbitmq/configuration.ts';
import { amqpProbe } from './rabbitmq/probe.ts';

/** Marks containers and volumes as a project's. */
export const CONTAINER_LABEL = 'dev.shopctl.project';

export const containerImages: Readonly<Record<ComponentName, string>> = {
  postgres: 'postgres:17',
  rabbitmq: 'rabbitmq:4-management',
  toxiproxy: 'ghcr.io/shopify/toxiproxy:2.12.0',
  jaeger: 'jaegertracing/jaeger:2.13.0',
};

/** What one component's container looks like. */
export interface ContainerPlan {
  readonly component: ComponentName;
  readonly name: string;
  readonly options: ContainerCreateOptions;
  readonly volumeName?: string;
  readonly address: Address;
  readonly info: Readonly<Record<string, string | number>>;
  probe(signal: AbortSignal): Promise<void>;
  setUp(): Promise<void>;
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
    return {
      component: 'postgres',
      name,
      volumeName: name,
      options: {
        Image: containerImages.postgres,
        // Seen by whoever may use the engine, and they are root on this machine anyway.
        Env: [`POSTGRES_PASSWORD=${password}`],
        Cmd: ['postgres', '-c', 'max_connections=200', '-c', 'jit=off'],
        ...published({ [port]: 5432 }, { Binds: [`${name}:/var/lib/postgresql/data`] }),
      },
      address,
      info: {},
      probe: postgresProbe(address),
      setUp: () =>
        setUpCluster({ ...context, address, superuser: { user: SUPERUSER, password, database: 'postgres' } }),
    };
  },

  async rabbitmq(name, context) {
    const [port = 0] = await context.ports.reserve('rabbitmq');
    const address = { host: '127.0.0.1', port };
    // The definitions hold password hashes only. A mounted file of ours (0600) would be unreadable for its user.
    const start = `printf %s "$SHOPCTL_DEFINITIONS" > /etc/rabbitmq/shopctl.json
echo "load_definitions = /etc/rabbitmq/shopctl.json" > /etc/rabbitmq/conf.d/90-shopctl.conf
exec docker-entrypoint.sh rabbitmq-server`;
    return {
      component: 'rabbitmq',
      name,
      volumeName: name,
      options: {
        Image: containerImages.rabbitmq,
        // RabbitMQ's data folder is named after the host: without a fixed name a new container would start empty.
        Hostname: 'broker',
        Env: [`SHOPCTL_DEFINITIONS=${brokerDefinitions(context.secrets)}`],
        Entrypoint: ['sh', '-c', start],
        ...published({ [port]: 5672 }, { Binds: [`${name}:/var/lib/rabbitmq`] }),
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
};

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
