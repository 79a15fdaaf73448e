import { ORDER_CONFIRMED_QUEUE } from '@shop/kit/topology.ts';
import { Type } from 'typebox';
import { CliError } from '../../errors.ts';
import { withChannel } from '../../operations/broker.ts';
import { waitUntil } from '../../shared/wait-until.ts';
import { bindingsOf, exchangeOf, hasBroker, publishCanary, queueParameter } from '../broker-faults.ts';
import { defineFault } from '../fault.ts';
import { toWitness } from './toxic-fault.ts';

const parameters = Type.Object({ queue: queueParameter }, { additionalProperties: false });

interface Unbound {
  readonly queue: string;
  readonly exchange: string;
  readonly routingKeys: readonly string[];
}

const BOUND_LIMIT_MS = 3_000;

const outcomes = {
  returned: 'returned (312 NO_ROUTE)',
  routed: 'routed to another queue',
  blocked: 'blocked by an alarm',
  silent: 'not confirmed',
};

/** A service that connects to the broker meanwhile declares its bindings, and thereby ends the effect. */
export const unbind = defineFault<typeof parameters, Unbound>({
  name: 'unbind',
  kind: 'broker',
  scope: 'broker',
  title: 'a queue is unbound from its exchange: published messages reach no queue (NO_ROUTE)',
  parameters,
  defaults: { excluded: 'events published meanwhile are lost by definition: E05 expects that' },
  // Bindings are kept in the broker's data.
  needsPlatform: true,
  async prepare({ parameters: { queue = ORDER_CONFIRMED_QUEUE } }, platform) {
    const routingKeys = await bindingsOf(queue, platform);
    const exchange = exchangeOf[queue] as string;
    if (routingKeys.length > 0) return { queue, exchange, routingKeys };
    throw new CliError({
      code: 'fault_unavailable',
      what: `${queue} is not bound to ${exchange}`,
      why: 'orders or shipping declare it when they connect to the broker',
      next: 'see "shopctl status"',
    });
  },
  inject: (_, { queue, exchange, routingKeys }, platform) =>
    withChannel(platform, async (channel) => {
      for (const key of routingKeys) await channel.unbindQueue(queue, exchange, key);
    }),
  async witness(_, { queue, exchange, routingKeys }, platform) {
    const left = await bindingsOf(queue, platform);
    // Where a binding is left, a canary would arrive as a message.
    if (left.length > 0) return { verdict: 'not_observed', evidence: `${queue} is bound by ${left.join(', ')}` };
    const canary = await publishCanary(platform, { exchange, routingKey: routingKeys[0] as string });
    const evidence = `${queue} has no binding; a mandatory canary was ${outcomes[canary]}`;
    // A broker that accepts nothing now (another fault) returns nothing either.
    if (canary === 'silent' || canary === 'blocked') return { verdict: 'unmeasurable', evidence };
    return toWitness(canary === 'returned', evidence);
  },
  whyNotAsked: 'orders and shipping bind the queue whenever they connect: that it is bound again is what E05b tests',
  async undo({ queue, exchange, routingKeys }, platform) {
    if (!hasBroker(platform)) throw waitsForStart();
    await withChannel(platform, async (channel) => {
      for (const key of routingKeys) await channel.bindQueue(queue, exchange, key);
    });
  },
  verify: ({ queue, exchange, routingKeys }, platform) =>
    waitUntil(`${queue} to be bound`, BOUND_LIMIT_MS, async () => {
      const bound = await bindingsOf(queue, platform);
      if (routingKeys.some((key) => !bound.includes(key))) return undefined;
      return `${queue} is bound to ${exchange} by ${routingKeys.length} binding(s)`;
    }),
});

function waitsForStart(): CliError {
  return new CliError({
    code: 'fault_not_reverted',
    what: 'RabbitMQ is not running',
    why: 'bindings are kept in its data; they are restored as soon as it runs again',
    next: 'run "shopctl up"',
  });
}
