import { setTimeout as delay } from 'node:timers/promises';
import {
  DEAD_LETTERS_EXCHANGE,
  DEAD_LETTERS_QUEUE,
  EVENTS_EXCHANGE,
  ORDER_CONFIRMED_QUEUE,
} from '@shop/kit/topology.ts';
import type { ChannelModel, ConfirmChannel } from 'amqplib';
import { Type } from 'typebox';
import { VIRTUAL_HOST } from '../topology/databases.ts';
import { until } from './poll.ts';
import type { World } from './world.ts';

const CONNECT_LIMIT_MS = 2_000;
const CANARY_LIMIT_MS = 2_000;
/** After a confirm: how long the word that the connection is blocked may come later, ms. */
const LATE_BLOCK_MS = 200;
const GONE_LIMIT_MS = 3_000;

/** The queues of the shop, and the exchange each is bound to. */
export const exchangeOf: Readonly<Record<string, string>> = {
  [ORDER_CONFIRMED_QUEUE]: EVENTS_EXCHANGE,
  [DEAD_LETTERS_QUEUE]: DEAD_LETTERS_EXCHANGE,
};

export const queueParameter = Type.Optional(
  Type.Enum([ORDER_CONFIRMED_QUEUE, DEAD_LETTERS_QUEUE], { description: `default: ${ORDER_CONFIRMED_QUEUE}` }),
);

/** False when the platform's broker does not run. */
export function hasBroker(world: World): boolean {
  const broker = world.state()?.instances.find(({ name }) => name === 'rabbitmq');
  return world.isLive && broker !== undefined && broker.status !== 'stopped' && broker.status !== 'failed';
}

/** Alarms that are on: `disk`, `memory`. */
export async function alarmsOf(world: World): Promise<readonly string[]> {
  const answer = await world.askBroker(
    'list_to_atom(lists:flatten([io_lib:format("~s;", [R]) || {{resource_limit, R, _}, _} <- rabbit_alarm:get_alarms()])).',
  );
  return answer
    .replaceAll("'", '')
    .split(';')
    .filter((name) => /^[a-z_]+$/.test(name));
}

/** Evidence that an alarm is off and publishes are taken; throws while not. */
export function verifyTaken(alarm: string, world: World): Promise<string> {
  return until(`the ${alarm} alarm to end and a publish to be taken`, GONE_LIMIT_MS, async () => {
    if ((await alarmsOf(world)).includes(alarm)) return undefined;
    const canary = await publishCanary(world, { exchange: '', routingKey: 'shopctl-canary' });
    return canary === 'returned' ? `no ${alarm} alarm; a publish of a canary was taken at once` : undefined;
  });
}

/** Routing keys that bind a queue to its exchange now; none when there is no such queue. */
export async function bindingsOf(queue: string, world: World): Promise<readonly string[]> {
  const name = (kind: string, of: string) => `rabbit_misc:r(<<"${VIRTUAL_HOST}">>, ${kind}, <<"${of}">>)`;
  const answer = await world.askBroker(
    `list_to_atom(lists:flatten([io_lib:format("~s;", [base64:encode(K)]) || {binding, _, K, _, _} <-
      rabbit_binding:list_for_source_and_destination(${name('exchange', exchangeOf[queue] as string)}, ${name('queue', queue)})])).`,
  );
  // An empty key (a fanout's) is an empty piece, so what stands after the last semicolon is cut off and no more.
  const pieces = answer.replaceAll("'", '').trim().split(';').slice(0, -1);
  return pieces.map((piece) => Buffer.from(piece, 'base64').toString());
}

/**
 * Publishes one message that nobody keeps, with `mandatory`, on a connection of the operator's. `returned`: taken, and
 * no queue wanted it; `routed`: a queue has it; `blocked`: the broker said that it takes nothing now; `silent`: none of these.
 */
export async function publishCanary(
  world: World,
  { exchange, routingKey }: { readonly exchange: string; readonly routingKey: string },
): Promise<'returned' | 'routed' | 'blocked' | 'silent'> {
  return withChannel(world, async (channel, connection) => {
    const blocked = new Promise<'blocked'>((resolve) => connection.once('blocked', () => resolve('blocked')));
    let isReturned = false;
    channel.once('return', () => {
      isReturned = true;
    });
    const over = new AbortController();
    const confirmed = new Promise<'returned' | 'routed'>((resolve, reject) => {
      channel.publish(exchange, routingKey, Buffer.from('canary'), { mandatory: true }, (error: unknown) => {
        if (error) reject(error);
        else void delay(LATE_BLOCK_MS).then(() => resolve(isReturned ? 'returned' : 'routed'));
      });
    });
    // A canary that is blocked is never confirmed, and its channel ends with its connection.
    confirmed.catch(() => undefined);
    const late = delay(CANARY_LIMIT_MS, 'silent' as const, { signal: over.signal });
    late.catch(() => undefined);
    return Promise.race([blocked, confirmed, late]).finally(() => over.abort());
  });
}

/** Work on a channel of the operator's, at the broker itself, not through a proxy. */
export async function withChannel<T>(
  world: World,
  work: (channel: ConfirmChannel, connection: ChannelModel) => Promise<T>,
): Promise<T> {
  const { default: amqp } = await import('amqplib');
  const connection = await amqp.connect(await world.brokerUrl(), {
    timeout: CONNECT_LIMIT_MS,
    clientProperties: { connection_name: 'shopctl-chaos' },
  });
  // What ends the connection or the channel also rejects what was asked on it; without listeners it would end this process.
  connection.on('error', () => undefined);
  try {
    const channel = await connection.createConfirmChannel();
    channel.on('error', () => undefined);
    return await work(channel, connection);
  } finally {
    // One that is blocked, or was closed by the broker, cannot say goodbye.
    await connection.close().catch(() => undefined);
  }
}
