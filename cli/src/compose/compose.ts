import { flags } from '@shop/kit/flag-names.ts';
import { dockerfileOf, imageName } from '../images/images.ts';
import { flagFile } from '../platform/flag-file.ts';
import { stopTimeoutMs } from '../platform/process-runtime.ts';
import { containerImages } from '../providers/docker-plans.ts';
import { jaegerConfig } from '../providers/jaeger-config.ts';
import { databaseNames, VIRTUAL_HOST } from '../topology/databases.ts';
import { IMAGE_HEALTH_PORT } from '../topology/image-environment.ts';
import { dependenciesOf, type Edge, edges, type ServiceDefinition, services } from '../topology/services.ts';
import { initialSql } from './initial-sql.ts';

/** The one secret of a shop that compose runs: read from the environment or the file `.env`, never written down. */
const PASSWORD = `\${SHOP_PASSWORD:?choose letters and digits and put it into the file .env}`;

/** Of the images (their Dockerfiles). */
const MAIN_PORT = 8080;
const QUERY_PORT = 16_686;
const OTLP_PORT = 4_318;
/** A folder with flags.json. */
const FLAGS = `\${SHOP_FLAGS:-./deploy/compose/flags}`;
const FLAGS_FOLDER = '/run/flags';
const FLAGS_FILE = flagFile(FLAGS_FOLDER);

type ComposeService = Readonly<Record<string, unknown>>;

/** The whole application for `docker compose up`, as the object that compose.yaml holds. */
export function composeFile(): Readonly<Record<string, unknown>> {
  return {
    name: 'shop',
    services: {
      ...components(),
      ...Object.fromEntries(databaseNames.map((name) => [`${name}-migrations`, migrations(name)])),
      ...Object.fromEntries(services.map((definition) => [definition.name, service(definition)])),
    },
    configs: { databases: { content: initialSql(PASSWORD) } },
    volumes: { postgres: {}, rabbitmq: {} },
  };
}

function components(): Readonly<Record<string, ComposeService>> {
  return {
    postgres: {
      image: containerImages.postgres,
      environment: { POSTGRES_PASSWORD: PASSWORD },
      // Read once, when the volume is empty.
      configs: [{ source: 'databases', target: '/docker-entrypoint-initdb.d/databases.sql' }],
      volumes: ['postgres:/var/lib/postgresql/data'],
      // By its address: while it initialises it listens on its socket only.
      healthcheck: check(['CMD', 'pg_isready', '-h', '127.0.0.1', '-U', 'postgres']),
      restart: 'unless-stopped',
    },
    rabbitmq: {
      image: containerImages.rabbitmq,
      // Its data folder is named after the host.
      hostname: 'broker',
      environment: {
        RABBITMQ_DEFAULT_USER: 'shop',
        RABBITMQ_DEFAULT_PASS: PASSWORD,
        RABBITMQ_DEFAULT_VHOST: VIRTUAL_HOST,
      },
      volumes: ['rabbitmq:/var/lib/rabbitmq'],
      // Its own diagnostics start a virtual machine each time: a second of CPU.
      healthcheck: check(['CMD', 'bash', '-c', '</dev/tcp/127.0.0.1/5672']),
      restart: 'unless-stopped',
    },
    jaeger: {
      image: containerImages.jaeger,
      command: [`--config=yaml:${jaegerConfig({ host: '0.0.0.0', query: QUERY_PORT, otlp: OTLP_PORT, grpc: 16_685 })}`],
      ports: [`127.0.0.1:\${JAEGER_PORT:-${QUERY_PORT}}:${QUERY_PORT}`],
      restart: 'unless-stopped',
    },
  };
}

function check(test: readonly string[]) {
  return { test, interval: '5s', timeout: '3s', retries: 24 };
}

function migrations(database: string): ComposeService {
  return {
    image: 'shop/migrations:dev',
    build: { context: '.', dockerfile: dockerfileOf('migrations') },
    command: [database],
    environment: { DATABASE_URL: `postgres://${database}_owner:${PASSWORD}@postgres:5432/${database}` },
    ...confined,
    depends_on: { postgres: { condition: 'service_healthy' } },
  };
}

/** The root file system stays as the image has it, and nothing can be gained by an exploit of the service. */
const confined = { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] };

/** `docker compose watch` builds an image again when a source of it is saved, and replaces its container. */
function service(definition: ServiceDefinition): ComposeService {
  const { name, protocol, preferredPort } = definition;
  const asksFlags = Object.values(flags).some(({ service }) => service === name);
  return {
    ...imageOf(name),
    develop: { watch: ['kit', 'proto', `services/${name}`].map((path) => ({ action: 'rebuild', path: `./${path}` })) },
    environment: {
      INSTANCE: `${name}-1`,
      ...(protocol === 'grpc' && { HEALTH_PORT: IMAGE_HEALTH_PORT }),
      ...(asksFlags && { FLAGS_FILE }),
      OTEL_SERVICE_NAME: name,
      OTEL_RESOURCE_ATTRIBUTES: `service.instance.id=${name}-1`,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://jaeger:${OTLP_PORT}`,
      ...Object.fromEntries(edges.filter(({ from }) => from === name).map((edge) => [edge.variable, endOf(edge)])),
    },
    // The folder, not the file: a file that is replaced would stay the old one inside.
    ...(asksFlags && { volumes: [`${FLAGS}:${FLAGS_FOLDER}:ro`] }),
    // Only the gateway is for clients; the others are reached by each other.
    ...(preferredPort !== undefined && { ports: [`127.0.0.1:\${SHOP_PORT:-${preferredPort}}:${MAIN_PORT}`] }),
    ...confined,
    depends_on: Object.fromEntries(dependenciesOf(name).map((dependency) => conditionOf(dependency, name))),
    restart: 'unless-stopped',
    // Docker's own 10 s would cut draining short.
    stop_grace_period: `${Math.ceil(stopTimeoutMs({}) / 1_000)}s`,
  };
}

/** Services wait for their tables; they retry until the broker and their neighbours respond. */
function conditionOf(dependency: string, service: string): readonly [string, { readonly condition: string }] {
  if (dependency === 'postgres') return [`${service}-migrations`, { condition: 'service_completed_successfully' }];
  return [dependency, { condition: dependency === 'rabbitmq' ? 'service_healthy' : 'service_started' }];
}

function imageOf(service: ServiceDefinition['name']): ComposeService {
  const build = { context: '.', dockerfile: dockerfileOf(service), args: { SERVICE: service } };
  return { image: imageName(service), build };
}

function endOf({ protocol, from, to }: Edge): string {
  switch (protocol) {
    case 'sql':
      return `postgres://${from}:${PASSWORD}@postgres:5432/${from}`;
    case 'amqp':
      return `amqp://shop:${PASSWORD}@rabbitmq:5672/${VIRTUAL_HOST}`;
    case 'grpc':
      return `${to}:${MAIN_PORT}`;
    case 'http':
      return `http://${to}:${MAIN_PORT}`;
  }
}
