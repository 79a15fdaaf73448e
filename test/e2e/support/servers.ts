/** PostgreSQL and RabbitMQ for one test class: separate containers where an engine responds. */
import { randomBytes } from 'node:crypto';
import { containerImages } from '../../../cli/src/providers/docker-plans.ts';
import { useReaper } from '../../support/reaper.ts';
import { findEngine, type TestEngine } from './engine.ts';

export interface Servers {
  /** For people: what they are. */
  readonly description: string;
  /** What makes `shopctl up` use them; empty where it starts its own. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const START_LIMIT_MS = 120_000;

/** Containers by Testcontainers, or what `shopctl up` finds on the machine; which of them is printed. */
export async function startServers(): Promise<Servers> {
  const found = await findEngine('PostgreSQL and RabbitMQ by Testcontainers', ...images());
  const servers = found ? await startContainers(found) : native();
  process.stderr.write(`tested against ${servers.description}\n`);
  return servers;
}

function images(): readonly string[] {
  return [containerImages.postgres, containerImages.rabbitmq];
}

function native(): Servers {
  return { description: 'the PostgreSQL and RabbitMQ that shopctl runs as processes', env: {}, stop: async () => {} };
}

async function startContainers({ has }: TestEngine): Promise<Servers> {
  await useReaper(has, process.env, (text) => void process.stderr.write(text));
  const [postgres, rabbitmq] = await Promise.all([startPostgres(), startRabbitMq()]);
  return {
    description: `${containerImages.postgres} and ${containerImages.rabbitmq} in containers (Testcontainers)`,
    env: { SHOPCTL_POSTGRES_URL: postgres.url, SHOPCTL_RABBITMQ_URL: rabbitmq.url },
    stop: async () => void (await Promise.all([postgres.container.stop(), rabbitmq.container.stop()])),
  };
}

async function startPostgres() {
  const { PostgreSqlContainer } = await import('@testcontainers/postgresql');
  const { Wait } = await import('testcontainers');
  const password = randomBytes(12).toString('hex');
  const container = await new PostgreSqlContainer(containerImages.postgres)
    .withUsername('postgres')
    .withPassword(password)
    .withDatabase('postgres')
    .withTmpFs({ '/var/lib/postgresql/data': 'rw' })
    .withCommand(['postgres', '-c', 'fsync=off'])
    // The module's own check runs four times a second for as long as the server lives: half a core.
    .withHealthCheck({ test: ['CMD', 'true'], interval: 3_600_000 })
    // The first time is the server that initialises the data folder.
    .withWaitStrategy(Wait.forLogMessage(/database system is ready to accept connections/, 2))
    .withStartupTimeout(START_LIMIT_MS)
    .start();
  return { container, url: `postgres://postgres:${password}@127.0.0.1:${container.getMappedPort(5432)}/postgres` };
}

async function startRabbitMq() {
  const { RabbitMQContainer } = await import('@testcontainers/rabbitmq');
  const password = randomBytes(12).toString('hex');
  const container = await new RabbitMQContainer(containerImages.rabbitmq)
    .withEnvironment({ RABBITMQ_DEFAULT_USER: 'shop', RABBITMQ_DEFAULT_PASS: password, RABBITMQ_DEFAULT_VHOST: 'shop' })
    .withStartupTimeout(START_LIMIT_MS)
    .start();
  return { container, url: `amqp://shop:${password}@127.0.0.1:${container.getMappedPort(5672)}/shop` };
}
