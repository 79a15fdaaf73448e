import { ORDER_CONFIRMED_QUEUE } from '@shop/kit/topology.ts';
import { Type } from 'typebox';
import { withChannel } from '../../operations/broker.ts';
import { queueParameter } from '../broker-faults.ts';
import { defineFault } from '../fault.ts';
import { toWitness } from './toxic-fault.ts';

const parameters = Type.Object({ queue: queueParameter }, { additionalProperties: false });

interface Purged {
  readonly queue: string;
  /** Set when it has happened. */
  messages?: number;
}

/** It cannot be reverted: only `shopctl outbox redrive` publishes lost events again. */
export const purge = defineFault<typeof parameters, Purged>({
  name: 'purge',
  kind: 'broker',
  scope: 'broker',
  title: 'the messages that wait in a queue are discarded, once; this cannot be reverted',
  parameters,
  defaults: { excluded: 'it discards events for good: only a redrive publishes them again' },
  isMomentary: true,
  endsWithPlatform: true,
  prepare: async ({ parameters: { queue = ORDER_CONFIRMED_QUEUE } }, platform) =>
    withChannel(platform, async (channel) => {
      await channel.checkQueue(queue);
      return { queue };
    }),
  inject: (_, purged, platform) =>
    withChannel(platform, async (channel) => {
      purged.messages = (await channel.purgeQueue(purged.queue)).messageCount;
    }),
  async witness(_, { queue, messages = 0 }) {
    const what = messages === 0 ? 'no message waited' : `${messages} message(s) were discarded`;
    return toWitness(messages > 0, `${what} in ${queue}; unacknowledged messages of consumers are not affected`);
  },
  undo: async () => undefined,
  async verify({ messages = 0 }) {
    if (messages === 0) return 'no message was discarded';
    return `${messages} message(s) are lost; "shopctl outbox redrive" publishes events again`;
  },
});
