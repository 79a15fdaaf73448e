// Goal: components as containers: who may do what in them, what is kept, what their end looks like, and that nothing stays.
// Method: a real engine and images that are here already; without them the tests are skipped, and why is printed.
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import amqp from 'amqplib';
import type Docker from 'dockerode';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { declareTopology, EVENTS_EXCHANGE, ORDER_CONFIRMED_QUEUE } from '../../../kit/src/topology.ts';
import { createPrometheusClient } from '../shop/prometheus.ts';
import type { ComponentName } from '../topology/components.ts';
import type { Availability, ComponentContext, ContainerRun, Launch } from './component.ts';
import { engineUrl, openEngine } from './docker/engine.ts';
import { execInContainer } from './docker/exec.ts';
import { CONTAINER_LABEL } from './docker/labels.ts';
import { endContainers, purgeContainers } from './docker/leftovers.ts';
import { readRecord } from './docker/record.ts';
import { dockerProvider } from './docker.ts';
import { containerImages } from './docker-plans.ts';
import { rabbitmqQueues } from './rabbitmq/queues.ts';
import { resolveComponent } from './resolve.ts';
import { aContext, type TestContext } from './testing.ts';
import { brokerUrl, databaseUrl } from './urls.ts';

const START_LIMIT_MS = 120_000;
const env = { DOCKER_HOST: process.env.DOCKER_HOST };

const ways = {
  postgres: await way('postgres'),
  rabbitmq: await way('rabbitmq'),
  toxiproxy: await way('toxiproxy'),
  prometheus: await way('prometheus'),
};

describe.skipIf(!ways.postgres.available)('PostgreSQL in a container', () => {
  let context: TestContext;
  let running: Running;

  beforeAll(async () => {
    context = await aContext({ env });
    running = await start('postgres', context);
    await running.launch.setUp();
  }, START_LIMIT_MS);

  afterAll(() => context?.[Symbol.asyncDispose]());

  it('has the databases and their roles, durable by default', async () => {
    const url = databaseUrl('service', 'orders', { address: running.launch.address, secrets: context.secrets });
    expect(await query(url, `SELECT current_user, current_setting('fsync') AS fsync`)).toEqual([
      { current_user: 'orders', fsync: 'on' },
    ]);
  });

  it('refuses the superuser without the password, on the loopback of the container too', async () => {
    const { host, port } = running.launch.address;
    await expect(query(`postgres://postgres:wrong@${host}:${port}/postgres`, 'SELECT 1')).rejects.toThrow(
      /password authentication failed/,
    );
    const rules = await execIn(running, ['sh', '-c', 'grep -v ^# "$PGDATA/pg_hba.conf"']);
    expect(rules.match(/^host .*trust/m)).toBeNull();
  });

  it('listens on loopback only', async () => {
    const { HostConfig } = await inspect(running);
    expect(HostConfig.PortBindings).toEqual({
      '5432/tcp': [{ HostIp: '127.0.0.1', HostPort: String(running.launch.address.port) }],
    });
  });

  it('shows no password to a user who may inspect it', async () => {
    const seen = JSON.stringify(await inspect(running));
    const { superuser, operator, owners, services } = context.secrets.postgres;
    for (const secret of [superuser, operator, ...Object.values(owners), ...Object.values(services)])
      expect(seen).not.toContain(secret);
  });

  it(
    'reports that it was killed, leaves no container, and starts again with its data at the same address',
    async () => {
      const { address } = running.launch;
      await (await container(running)).kill();
      expect(await running.ended).toBe('exit code 137');
      expect(await containersOf(context)).toEqual([]);
      running = await start('postgres', context, running.launch);
      expect(running.launch.address).toEqual(address);
      const url = databaseUrl('operator', 'orders', { address, secrets: context.secrets });
      expect(await query(url, 'SELECT current_database() AS name')).toEqual([{ name: 'orders' }]);
    },
    START_LIMIT_MS,
  );

  it('writes its output to its log file', async () => {
    expect(await readFile(context.logFile('postgres'), 'utf8')).toContain('database system is ready to accept');
  });
});

describe.skipIf(!ways.rabbitmq.available)('RabbitMQ in a container', () => {
  let context: TestContext;
  let running: Running;

  beforeAll(async () => {
    context = await aContext({ env });
    running = await start('rabbitmq', context);
  }, START_LIMIT_MS);

  afterAll(() => context?.[Symbol.asyncDispose]());

  it('refuses guest, and lets a service declare the topology and nothing else', async () => {
    const { host, port } = running.launch.address;
    await expect(amqp.connect(`amqp://guest:guest@${host}:${port}/shop`)).rejects.toThrow(/ACCESS_REFUSED/);
    await asOrders(async (channel) => expect(await declareTopology(channel)).toBeUndefined());
    await expect(asOrders((channel) => channel.assertQueue('another-project'))).rejects.toThrow(/ACCESS_REFUSED/);
  });

  it('shows no password to a user who may inspect it', async () => {
    const seen = JSON.stringify(await inspect(running));
    const { users, cookie } = context.secrets.rabbitmq;
    for (const secret of [cookie, ...Object.values(users)]) expect(seen).not.toContain(secret);
  });

  it(
    'keeps confirmed messages when it is stopped and its container is created again',
    async () => {
      await asOrders(async (channel) => {
        await declareTopology(channel);
        channel.publish(EVENTS_EXCHANGE, 'order.confirmed', Buffer.from('{}'), { persistent: true });
        await channel.waitForConfirms();
      });
      await running.run.stop();
      expect(await containersOf(context)).toEqual([]);
      running = await start('rabbitmq', context, running.launch);
      await expect.poll(depth, { timeout: 20_000, interval: 500 }).toMatchObject({ ready: 1, consumers: 0 });
    },
    START_LIMIT_MS,
  );

  async function depth() {
    const queues = await rabbitmqQueues(running.launch).catch(() => []);
    return queues.find(({ name }) => name === ORDER_CONFIRMED_QUEUE);
  }

  async function asOrders<Result>(work: (channel: amqp.ConfirmChannel) => Promise<Result>): Promise<Result> {
    const url = brokerUrl('orders', { address: running.launch.address, secrets: context.secrets });
    const connection = await amqp.connect(url);
    try {
      const channel = await connection.createConfirmChannel();
      // A refused operation closes the channel; the rejection of the operation itself is what the test looks at.
      channel.on('error', () => undefined);
      return await work(channel);
    } finally {
      await connection.close();
    }
  }
});

describe.skipIf(!ways.toxiproxy.available)('Toxiproxy in a container', () => {
  it(
    'reaches what listens on this loopback, and is ended with the rest without a supervisor',
    async () => {
      await using context = await aContext({ env });
      const { launch, ended } = await start('toxiproxy', context);
      const api = `http://127.0.0.1:${launch.address.port}`;
      const [listen = 0] = await context.ports.reserve('proxied');
      const body = JSON.stringify({ name: 'itself', listen: `127.0.0.1:${listen}`, upstream: api.slice(7) });
      expect((await fetch(`${api}/proxies`, { method: 'POST', body })).status).toBe(201);
      expect((await fetch(`http://127.0.0.1:${listen}/version`)).status).toBe(200);
      expect(await endContainers(context.stateDir)).toBe(1);
      expect(await ended).toMatch(/^exit code|lost it/);
      expect(await containersOf(context)).toEqual([]);
      expect(await endContainers(context.stateDir)).toBe(0);
    },
    START_LIMIT_MS,
  );
});

describe.skipIf(!ways.prometheus.available)('Prometheus in a container', () => {
  it(
    'scrapes what listens on this loopback, and takes changed rules',
    async () => {
      await using context = await aContext({ env });
      const supervisor = createHttpServer((_, response) => response.end('orders_total 7\n')).listen(0, '127.0.0.1');
      await once(supervisor, 'listening');
      const telemetryUrl = `http://127.0.0.1:${(supervisor.address() as AddressInfo).port}`;
      const root = join(context.stateDir, 'clone');
      const { launch, run } = await start('prometheus', { ...context, root, telemetryUrl });
      const client = createPrometheusClient(launch.url ?? '');
      const orders = async () => (await client.queryInstant('orders_total'))[0]?.value;
      await expect.poll(orders, { timeout: START_LIMIT_MS / 2 }).toBe(7);
      await mkdir(join(root, 'dashboards/prometheus/laptop'), { recursive: true });
      const rules = 'groups: [{name: test, rules: [{alert: Always, expr: vector(1)}]}]';
      await writeFile(join(root, 'dashboards/prometheus/laptop/rules.yaml'), rules);
      expect(await launch.refresh?.()).toEqual(['rules rules.yaml']);
      expect((await client.rules()).map(({ name }) => name)).toEqual(['Always']);
      await run.stop();
      supervisor.closeAllConnections();
      supervisor.close();
      expect(await containersOf(context)).toEqual([]);
    },
    START_LIMIT_MS,
  );
});

describe.skipIf(!ways.postgres.available)('a start that fails', () => {
  it('says that the port is taken, and leaves no container', async () => {
    await using context = await aContext({ env });
    const launch = await resolveComponent('postgres', context, { forced: 'docker' });
    const other = createServer().listen(launch.address.port, launch.address.host);
    await once(other, 'listening');
    await expect((launch.run as ContainerRun).start()).rejects.toThrow(/address already in use/);
    other.close();
    expect(await containersOf(context)).toEqual([]);
  });

  it(
    'is none when only the log cannot be written: the end says so',
    async () => {
      await using context = await aContext({ env });
      const running = await start('postgres', { ...context, logFile: () => '/nowhere/postgres.log' });
      await running.run.stop();
      expect(await running.ended).toMatch(/exit code 0; .*ENOENT.*nowhere/);
      expect(await containersOf(context)).toEqual([]);
    },
    START_LIMIT_MS,
  );
});

describe.skipIf(!ways.postgres.available)('a first start that is interrupted', () => {
  it(
    'does not spoil the next one',
    async () => {
      await using context = await aContext({ env });
      const launch = await resolveComponent('postgres', context, { forced: 'docker' });
      const first = launch.run as ContainerRun;
      const { ended } = await first.start();
      const half = { launch, run: first, ended };
      // initdb has begun to fill the volume, which the image would take for a whole one from then on.
      await vi.waitFor(async () => (await execIn(half, ['test', '-e', '/var/lib/postgresql/data/PG_VERSION'])) === '', {
        timeout: START_LIMIT_MS / 2,
        interval: 5,
      });
      await (await container(half)).kill();
      await ended;
      const second = await start('postgres', context, launch);
      await second.launch.setUp();
      const url = databaseUrl('operator', 'orders', { address: launch.address, secrets: context.secrets });
      expect(await query(url, 'SELECT current_database() AS name')).toEqual([{ name: 'orders' }]);
    },
    START_LIMIT_MS,
  );
});

describe.skipIf(!ways.postgres.available)('a purge', () => {
  it(
    'removes containers and volumes of its project alone',
    async () => {
      await using kept = await aContext({ env });
      await using purged = await aContext({ env });
      await Promise.all([start('postgres', kept), start('postgres', purged)]);
      await purgeContainers(purged.stateDir);
      expect([await containersOf(purged), await volumesOf(purged)]).toEqual([[], []]);
      expect([(await containersOf(kept)).length, (await volumesOf(kept)).length]).toEqual([1, 1]);
    },
    START_LIMIT_MS,
  );
});

describe.skipIf(!ways.postgres.available)('an image that is not here', () => {
  it('is installable, not available, and a failed pull says what was tried', async () => {
    await using context = await aContext({ env });
    const images = containerImages as Record<ComponentName, string>;
    const real = images.postgres;
    // No process listens on port 1: the pull fails immediately, whatever registry this machine can reach.
    images.postgres = '127.0.0.1:1/shop/postgres:17';
    try {
      const provider = dockerProvider('postgres', context);
      expect(await provider.check()).toMatchObject({ available: false, installable: true });
      await expect(resolveComponent('postgres', context, { forced: 'docker' })).rejects.toMatchObject({
        name: 'ComponentUnavailableError',
        why: '  docker: image 127.0.0.1:1/shop/postgres:17 is not here; setup would pull it, as "docker pull" does',
        next: 'run "shopctl setup --with postgres"',
      });
      await expect(provider.install?.(() => undefined)).rejects.toThrow(/could not be pulled \(.*refused.*docker load/);
    } finally {
      images.postgres = real;
    }
  });
});

interface Running {
  readonly launch: Launch;
  readonly run: ContainerRun;
  readonly ended: Promise<string>;
}

/** Whether the docker way serves here; says why it does not. */
async function way(component: ComponentName): Promise<Availability> {
  await using context = await aContext({ env });
  const availability = await dockerProvider(component, context).check();
  if (!availability.available) process.stderr.write(`skipped: ${component} in a container: ${availability.detail}\n`);
  return availability;
}

async function start(component: ComponentName, context: ComponentContext, again?: Launch): Promise<Running> {
  const launch = again ?? (await resolveComponent(component, context, { forced: 'docker' }));
  if (launch.run.type !== 'container') throw new Error(`${component}: not a container`);
  await launch.prepare();
  const { ended } = await launch.run.start();
  const limit = AbortSignal.timeout(START_LIMIT_MS / 2);
  await vi.waitFor(() => launch.probe(limit), { timeout: START_LIMIT_MS / 2, interval: 50 });
  return { launch, run: launch.run, ended };
}

async function container({ launch }: Running): Promise<Docker.Container> {
  return (await openEngine(String(launch.info.engine))).getContainer(String(launch.info.container));
}

function execIn({ launch }: Running, command: readonly string[]): Promise<string> {
  return execInContainer(String(launch.info.container), command, String(launch.info.engine));
}

async function inspect(running: Running): Promise<Docker.ContainerInspectInfo> {
  return (await container(running)).inspect();
}

async function containersOf(context: TestContext): Promise<readonly string[]> {
  const engine = await openEngine(engineUrl(context.env));
  const found = await engine.listContainers({ all: true, filters: await labelOf(context) });
  return found.map(({ Id }) => Id);
}

async function volumesOf(context: TestContext): Promise<readonly string[]> {
  const engine = await openEngine(engineUrl(context.env));
  const { Volumes } = await engine.listVolumes({ filters: await labelOf(context) });
  return (Volumes ?? []).map(({ Name }) => Name);
}

async function labelOf({ stateDir }: TestContext) {
  const record = await readRecord(stateDir);
  if (record === undefined) throw new Error(`${stateDir}: no containers were recorded`);
  return { label: [`${CONTAINER_LABEL}=${record.key}`] };
}

async function query(connectionString: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
