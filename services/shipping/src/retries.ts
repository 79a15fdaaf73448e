import { TransientError } from '@shop/kit/failures.ts';
import { DELIVERIES_HEADER, RETRIES_EXCHANGE } from '@shop/kit/topology.ts';
import { uninstrumented } from '@shop/kit/tracing.ts';
import type { ConfirmChannel, ConsumeMessage, MessagePropertyHeaders } from 'amqplib';

/** Identifies the copies in flight on one channel. */
const TAG_HEADER = 'x-shop-delivery-tag';

/** Longest wait for a confirm, in ms: a broker that blocks publishes (an alarm) does not respond. */
const CONFIRM_TIMEOUT_MS = 2_000;

export interface Retries {
  /**
   * Publishes a copy of a message to the retry queue for `afterMs`, and resolves when the broker has confirmed it. The
   * message itself is still to be acknowledged. A crash between the two leaves both; the inbox detects the duplicate.
   * Rejects with TransientError when the broker did not confirm, or `lost` fired: then there is no copy to rely on.
   */
  putAside(message: ConsumeMessage, delivery: { readonly deliveries: number; readonly afterMs: number }): Promise<void>;
}

export function createRetries(channel: ConfirmChannel, lost: AbortSignal): Retries {
  // A return arrives before the confirm of the same message.
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
      // The user id is its first publisher's, and the broker rejects any other.
      // `mandatory`: without its queue the copy would be confirmed and lost.
      const { userId: _publisher, ...kept } = properties;
      const options = { ...kept, headers, mandatory: true, persistent: true, expiration: Math.ceil(afterMs) };
      const confirmed = (error: unknown) => {
        given.removeEventListener('abort', giveUp);
        if (error) reject(new TransientError('the broker did not put a message aside', { cause: error }));
        else if (returned.delete(fields.deliveryTag)) reject(new TransientError('there is no queue of retries'));
        else resolve();
      };
      // The copy keeps the trace context of its first publisher.
      uninstrumented(() => channel.publish(RETRIES_EXCHANGE, fields.routingKey, content, options, confirmed));
      return promise;
    },
  };
}

/** Earlier deliveries of a message: up to its last retry by header, and since then as quorum queues count them. */
export function earlierDeliveriesOf({ properties: { headers = {} } }: Pick<ConsumeMessage, 'properties'>): number {
  return countIn(headers, DELIVERIES_HEADER) + countIn(headers, 'x-delivery-count');
}

function countIn(headers: MessagePropertyHeaders, name: string): number {
  const count: unknown = headers[name];
  return Number.isInteger(count) && (count as number) > 0 ? (count as number) : 0;
}

/** Without the broker's history: it would count the retries as deaths of the message. */
function withoutHistory(headers: MessagePropertyHeaders): MessagePropertyHeaders {
  const isHistory = (name: string) => /^x-(death|(first|last)-death-.*|delivery-count|acquired-count)$/.test(name);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isHistory(name)));
}
