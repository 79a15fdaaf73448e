import { TransientError } from '@shop/kit/failures.ts';
import { DELIVERIES_HEADER, RETRIES_EXCHANGE } from '@shop/kit/topology.ts';
import type { ConfirmChannel, ConsumeMessage, MessagePropertyHeaders } from 'amqplib';

/** Tells copies apart that are under way on one channel. */
const TAG_HEADER = 'x-shop-delivery-tag';

/** Longest wait for a confirm, in ms: a broker that takes no publishes (an alarm) says nothing. */
const CONFIRM_TIMEOUT_MS = 2_000;

export interface Retries {
  /**
   * Puts a copy of a message where it waits `afterMs`, and resolves when the broker has it for good; the message itself is
   * still to be acknowledged. A crash between the two leaves both, and the inbox knows the second. Rejects with TransientError when the
   * broker did not take it, or `lost` fired: the message is then all there is.
   */
  putAside(message: ConsumeMessage, delivery: { readonly deliveries: number; readonly afterMs: number }): Promise<void>;
}

export function createRetries(channel: ConfirmChannel, lost: AbortSignal): Retries {
  // Told before the confirm of the same message.
  const returned = new Set<unknown>();
  channel.on('return', ({ properties }) => returned.add(properties.headers?.[TAG_HEADER]));

  return {
    putAside({ content, fields, properties }, { deliveries, afterMs }) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const given = AbortSignal.any([lost, AbortSignal.timeout(CONFIRM_TIMEOUT_MS)]);
      const giveUp = () => reject(new TransientError('no confirm of a message that was put aside'));
      given.addEventListener('abort', giveUp);
      const headers = {
        ...withoutHistory(properties.headers ?? {}),
        [DELIVERIES_HEADER]: deliveries,
        [TAG_HEADER]: fields.deliveryTag,
      };
      // The user id is its first publisher's, and the broker refuses another's.
      // `mandatory`: without its queue the copy would be confirmed and gone.
      const { userId: _publisher, ...kept } = properties;
      const options = { ...kept, headers, mandatory: true, persistent: true, expiration: Math.ceil(afterMs) };
      channel.publish(RETRIES_EXCHANGE, fields.routingKey, content, options, (error) => {
        given.removeEventListener('abort', giveUp);
        if (error) reject(new TransientError('the broker did not put a message aside', { cause: error }));
        else if (returned.delete(fields.deliveryTag)) reject(new TransientError('there is no queue of retries'));
        else resolve();
      });
      return promise;
    },
  };
}

/** How often a message was delivered before: until it waited last, and since then, which quorum queues count. */
export function earlierDeliveriesOf({ properties: { headers = {} } }: Pick<ConsumeMessage, 'properties'>): number {
  return countIn(headers, DELIVERIES_HEADER) + countIn(headers, 'x-delivery-count');
}

function countIn(headers: MessagePropertyHeaders, name: string): number {
  const count: unknown = headers[name];
  return Number.isInteger(count) && (count as number) > 0 ? (count as number) : 0;
}

/** Without what the broker wrote: it would count the waits as deaths of the message. */
function withoutHistory(headers: MessagePropertyHeaders): MessagePropertyHeaders {
  const isHistory = (name: string) => /^x-(death|(first|last)-death-.*|delivery-count|acquired-count)$/.test(name);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isHistory(name)));
}
