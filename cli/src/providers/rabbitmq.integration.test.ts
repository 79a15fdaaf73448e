// Goal: who may do what on the broker, what its queues hold, and that it can be killed and leaves nothing behind.
// Method: a real broker in a temporary folder, installed by `setup`'s own way when the machine has none.
import amqp from 'amqplib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { declareTopology, EVENTS_EXCHANGE, ORDER_CONFIRMED_QUEUE } from '../../../kit/src/topology.ts';
import { messageOf } from '../errors.ts';
import type { BrokerUser } from '../topology/databases.ts';
import type { Launch } from './component.ts';
import { evaluateOnBroker } from './rabbitmq/evaluate.ts';
import { rabbitmqQueues } from './rabbitmq/queues.ts';
import { installComponent, resolveComponent } from './resolve.ts';
import { exchange } from './tcp-exchange.ts';
import { aContext, type RunningLaunch, sharedCacheDir, startLaunch, type TestContext } from './testing.ts';
import { brokerUrl } from './urls.ts';

const INSTALL_LIMIT_MS = 300_000;
const START_LIMIT_MS = 60_000;
/** Queue names reach the disk with a delay of half a second in this broker; see the test that kills it. */
const NAMES_SAVED_MS = 1_000;

let context: TestContext;
let launch: Launch;
let broker: RunningLaunch;

beforeAll(async () => {
  context = await aContext({ cacheDir: sharedCacheDir() });
  await installComponent('rabbitmq', context, (message) => process.stderr.write(`${message}\n`));
  launch = await resolveComponent('rabbitmq', context);
  broker = await startLaunch(launch, { logFile: context.logFile('rabbitmq-output') });
}, INSTALL_LIMIT_MS);

afterAll(async () => {
  await broker?.[Symbol.asyncDispose]();
  await context?.[Symbol.asyncDispose]();
});

it.each(['orders', 'shipping', 'shop_operator'] as const)('%s declares the whole topology', async (user) => {
  await asUser(user, async (channel) => expect(await declareTopology(channel)).toBeUndefined());
});

it.each(['orders', 'shipping'] as const)('%s declares nothing else', async (user) => {
  await expect(asUser(user, (channel) => channel.assertQueue('another-project'))).rejects.toThrow(/ACCESS_REFUSED/);
});

it('has not loaded modules that nothing calls', async () => {
  const loaded = (name: string) => evaluateOnBroker(launch, `code:is_loaded(${name}).`);
  expect(await loaded('rabbit_queue_type')).toContain('rabbit_queue_type');
  // The compilers of ASN.1 and XML, and a web server.
  expect(await Promise.all(['asn1ct', 'xmerl_scan', 'httpd'].map(loaded))).toEqual(['false', 'false', 'false']);
});

it('refuses guest', async () => {
  const { host, port } = launch.address;
  await expect(amqp.connect(`amqp://guest:guest@${host}:${port}/shop`)).rejects.toThrow(/ACCESS_REFUSED/);
});

it('reports exactly what waits, what is in progress and who consumes', async () => {
  await publish(5);
  await asUser('shipping', async (channel) => {
    await channel.prefetch(2);
    let delivered = 0;
    await channel.consume(ORDER_CONFIRMED_QUEUE, () => {
      delivered++;
    });
    await expect.poll(() => delivered, { timeout: 5_000 }).toBe(2);
    expect(await orderConfirmed()).toEqual({ name: ORDER_CONFIRMED_QUEUE, ready: 3, unacknowledged: 2, consumers: 1 });
  });
  await expect.poll(orderConfirmed).toEqual({ name: ORDER_CONFIRMED_QUEUE, ready: 5, unacknowledged: 0, consumers: 0 });
});

it('serves all concurrent callers', async () => {
  const asked = Array.from({ length: 20 }, (_, index) => evaluateOnBroker(launch, `${index} * 2.`));
  expect(await Promise.all(asked)).toEqual(asked.map((_, index) => `${index * 2}`));
});

it('begins a new write-ahead log after 16 MB, which it holds in memory until then', async () => {
  const limit = 'maps:get(wal_max_size_bytes, ra_system:fetch(quorum_queues)).';
  expect(await evaluateOnBroker(launch, limit)).toBe(String(16 * 1024 ** 2));
});

it(
  'keeps confirmed messages when it is killed, and starts again on the same data',
  async () => {
    await expect.poll(() => performance.now() - declaredAt, { timeout: 5_000 }).toBeGreaterThan(NAMES_SAVED_MS);
    const { ready } = await orderConfirmed();
    await publish(1);
    await broker.stop('SIGKILL');
    broker = await startLaunch(launch);
    await expect.poll(() => orderConfirmed().catch(String), { timeout: 10_000 }).toMatchObject({ ready: ready + 1 });
  },
  START_LIMIT_MS,
);

it('never shows the cookie or a password in its arguments', () => {
  const { rabbitmq } = context.secrets;
  const spec = launch.run.type === 'process' ? JSON.stringify([launch.run.spec, launch.info]) : '';
  expect(spec).toContain('erlexec');
  for (const secret of [rabbitmq.cookie, ...Object.values(rabbitmq.users)]) expect(spec).not.toContain(secret);
});

it.each(['SIGTERM', 'SIGKILL'] as const)(
  'leaves no port mapper after its own script was ended by %s',
  async (signal) => {
    await using other = await aContext({ cacheDir: context.cacheDir, env: { SHOPCTL_RABBITMQ_START: 'script' } });
    const byScript = await resolveComponent('rabbitmq', other);
    const running = await startLaunch(byScript);
    const epmd = { host: '127.0.0.1', port: Number(byScript.info.epmdPort) };
    expect(await rabbitmqQueues(byScript)).toEqual([]);
    await running.stop(signal);
    // One that is just ending may still take a connection, and reset it.
    const ask = () => exchange(epmd, Buffer.from([0, 1, 'n'.charCodeAt(0)])).then(String, messageOf);
    await expect.poll(ask, { timeout: 2_000 }).toContain('ECONNREFUSED');
  },
  START_LIMIT_MS,
);

it(
  'leaves no port mapper that the broker started, and that one listens on this machine only',
  async () => {
    await using other = await aContext({ cacheDir: context.cacheDir });
    const broker = await resolveComponent('rabbitmq', other);
    const running = await startLaunch(broker);
    // What its monitor does after a minute, and from then on each minute.
    await evaluateOnBroker(broker, 'rabbit_epmd_monitor ! check.');
    const env = broker.run.type === 'process' ? broker.run.spec.env : {};
    const epmd = { host: '127.0.0.1', port: Number(env.ERL_EPMD_PORT) };
    const ask = () => exchange(epmd, Buffer.from([0, 1, 'n'.charCodeAt(0)])).then(() => 'responds', messageOf);
    await expect.poll(ask, { timeout: 10_000 }).toBe('responds');
    expect(env.ERL_EPMD_ADDRESS).toBe('127.0.0.1');
    await running.stop();
    await expect.poll(ask, { timeout: 2_000 }).toContain('ECONNREFUSED');
  },
  START_LIMIT_MS,
);

let declaredAt = Number.POSITIVE_INFINITY;

async function publish(count: number): Promise<void> {
  await asUser('orders', async (channel) => {
    await declareTopology(channel);
    declaredAt = Math.min(declaredAt, performance.now());
    for (let sent = 0; sent < count; sent++)
      channel.publish(EVENTS_EXCHANGE, 'order.confirmed', Buffer.from('{}'), { persistent: true });
    await channel.waitForConfirms();
  });
}

async function orderConfirmed() {
  const queues = await rabbitmqQueues(launch);
  const queue = queues.find(({ name }) => name === ORDER_CONFIRMED_QUEUE);
  if (queue === undefined) throw new Error(`no queue ${ORDER_CONFIRMED_QUEUE} among ${queues.length}`);
  return queue;
}

async function asUser<Result>(
  user: BrokerUser,
  work: (channel: amqp.ConfirmChannel) => Promise<Result>,
): Promise<Result> {
  const connection = await amqp.connect(brokerUrl(user, { address: launch.address, secrets: context.secrets }));
  try {
    const channel = await connection.createConfirmChannel();
    // A refused operation closes the channel; the rejection of the operation itself is what the test looks at.
    channel.on('error', () => undefined);
    return await work(channel);
  } finally {
    await connection.close();
  }
}
