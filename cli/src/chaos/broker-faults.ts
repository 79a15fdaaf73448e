import { setTimeout as delay } from 'node:timers/promises';
import {
  DEAD_LETTERS_EXCHANGE,
  DEAD_LETTERS_QUEUE,
  EVENTS_EXCHANGE,
  ORDER_CONFIRMED_QUEUE,
} from '@shop/kit/topology.ts';
import { Type } from 'typebox';
import { readBindings, withChannel } from '../operations/broker.ts';
import { waitUntil } from '../shared/wait-until.ts';
import type { PlatformAccess } from './platform-access.ts';

const CANARY_LIMIT_MS = 2_000;
/** How long after a confirm `connection.blocked` may arrive, ms. */
const LATE_BLOCK_MS = 200;
const GONE_LIMIT_MS = 3_000;

/** The queues of the shop, and the exchange each is bound to. */
export const exchangeOf: Readonly<Record<string, string>> = {
  [ORDER_CONFIRMED_QUEUE]: EVENTS_EXCHANGE,
  [DEAD_LETTERS_QUEUE]: DEAD_LETTERS_EXCHANGE,
};

export const queueParameter = Type.Optional(
  Type.Enum([ORDER_CONFIRMED_QUEUE, DEAD_LETTERS_QUEUE], {
    description: `name of the queue (default: ${ORDER_CONFIRMED_QUEUE})`,
  }),
);

/** False when the platform's broker is not running. */
export function hasBroker(platform: PlatformAccess): boolean {
  const broker = platform.state()?.instances.find(({ name }) => name === 'rabbitmq');
  return platform.isLive && broker !== undefined && broker.status !== 'stopped' && broker.status !== 'failed';
}

/** Alarms that are on: `disk`, `memory`. */
export async function alarmsOf(platform: PlatformAccess): Promise<readonly string[]> {
  const printed = await platform.askBroker(
    'list_to_atom(lists:flatten([io_lib:format("~s;", [R]) || {{resource_limit, R, _}, _} <- rabbit_alarm:get_alarms()])).',
  );
  return printed
    .replaceAll("'", '')
    .split(';')
    .filter((name) => /^[a-z_]+$/.test(name));
}

/** Evidence that an alarm is off and publishes are confirmed; throws while not. */
export function verifyTaken(alarm: string, platform: PlatformAccess): Promise<string> {
  return waitUntil(`the ${alarm} alarm to end and a publish to be taken`, GONE_LIMIT_MS, async () => {
    if ((await alarmsOf(platform)).includes(alarm)) return undefined;
    const canary = await publishCanary(platform, { exchange: '', routingKey: 'shopctl-canary' });
    return canary === 'returned' ? `no ${alarm} alarm; a publish of a canary was confirmed` : undefined;
  });
}

/** Routing keys that bind a queue to its exchange now; none for an unknown queue. */
export async function bindingsOf(queue: string, platform: PlatformAccess): Promise<readonly string[]> {
  const bindings = await readBindings(platform);
  return bindings
    .filter((one) => one.queue === queue && one.exchange === exchangeOf[queue])
    .map(({ routingKey }) => routingKey);
}

/**
 * Publishes one `mandatory` message without a consumer, on a connection of the operator's account. `returned`: confirmed,
 * without a queue; `routed`: a queue has it; `blocked`: the broker has blocked the connection; `silent`: none of these.
 */
export async function publishCanary(
  platform: PlatformAccess,
  { exchange, routingKey }: { readonly exchange: string; readonly routingKey: string },
): Promise<'returned' | 'routed' | 'blocked' | 'silent'> {
  return withChannel(platform, async (channel, connection) => {
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
