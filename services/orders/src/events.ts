import { randomUUID } from 'node:crypto';
import { ORDER_CONFIRMED, ORDER_CONFIRMED_V2 } from '@shop/kit/event-schemas.ts';
import {
  createOrderConfirmed,
  createOrderConfirmedV2,
  type OrderConfirmedEvent,
  type OrderConfirmedV2Event,
} from '@shop/kit/events.ts';
import type { Saga } from './saga/saga.ts';

export type ConfirmationEvent = OrderConfirmedEvent | OrderConfirmedV2Event;
type EventType = ConfirmationEvent['type'];

/** How each version describes a confirmed order. */
const versions: Readonly<Record<EventType, (saga: Saga, time: Date) => ConfirmationEvent>> = {
  [ORDER_CONFIRMED]: ({ orderId, lines, totalKopiykas: total, currency }, time) =>
    createOrderConfirmed(randomUUID(), time, {
      orderId,
      lines: lines.map(({ productId, quantity }) => ({ productId, quantity })),
      total,
      currency,
    }),
  [ORDER_CONFIRMED_V2]: ({ orderId, lines, totalKopiykas: amount, currency }, time) =>
    createOrderConfirmedV2(randomUUID(), time, {
      orderId,
      lines: lines.map(({ productId, quantity, priceKopiykas: unitPrice }) => ({ productId, quantity, unitPrice })),
      total: { amount, currency },
    }),
};

/** The versions to publish for an order: the first one always, the second beside it while its flag is on for the order. */
export function eventVersions(both: boolean): readonly [EventType, ...EventType[]] {
  return both ? [ORDER_CONFIRMED, ORDER_CONFIRMED_V2] : [ORDER_CONFIRMED];
}

/** The order's events, one per version, each a separate message with its own id. */
export function confirmationEvents(
  saga: Saga,
  types: readonly [EventType, ...EventType[]],
  time: Date,
): readonly [ConfirmationEvent, ...ConfirmationEvent[]] {
  const [first, ...others] = types;
  return [versions[first](saga, time), ...others.map((type) => versions[type](saga, time))];
}
