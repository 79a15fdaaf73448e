import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { EVENT_SOURCE, ORDER_CONFIRMED, ORDER_CONFIRMED_V2 } from './event-schemas.ts';
import { PermanentError } from './failures.ts';

export interface OrderConfirmed {
  readonly orderId: string;
  readonly lines: readonly { readonly productId: number; readonly quantity: number }[];
  /** Minor units (kopiykas). */
  readonly total: number;
  readonly currency: string;
}

/** An event as CloudEvents 1.0 in JSON. `id` is the outbox row's id, `subject` the order's. */
interface CloudEvent<Type extends string, Data> {
  readonly specversion: '1.0';
  readonly id: string;
  readonly type: Type;
  readonly source: typeof EVENT_SOURCE;
  /** RFC 3339. */
  readonly time: string;
  readonly subject: string;
  readonly datacontenttype: 'application/json';
  readonly data: Data;
}

export type OrderConfirmedEvent = CloudEvent<typeof ORDER_CONFIRMED, OrderConfirmed>;
export type OrderConfirmedV2Event = CloudEvent<typeof ORDER_CONFIRMED_V2, OrderConfirmedV2>;

/** The same order as `OrderConfirmed`, as version 2 says it; money in minor units (kopiykas). */
export interface OrderConfirmedV2 {
  readonly orderId: string;
  readonly lines: readonly { readonly productId: number; readonly quantity: number; readonly unitPrice: number }[];
  readonly total: { readonly amount: number; readonly currency: string };
}

export function createOrderConfirmed(id: string, time: Date, data: OrderConfirmed): OrderConfirmedEvent {
  return cloudEvent(ORDER_CONFIRMED, id, time, data);
}

export function createOrderConfirmedV2(id: string, time: Date, data: OrderConfirmedV2): OrderConfirmedV2Event {
  return cloudEvent(ORDER_CONFIRMED_V2, id, time, data);
}

function cloudEvent<const Type extends string, Data extends { readonly orderId: string }>(
  type: Type,
  id: string,
  time: Date,
  data: Data,
): CloudEvent<Type, Data> {
  return {
    specversion: '1.0',
    id,
    type,
    source: EVENT_SOURCE,
    time: time.toISOString(),
    subject: data.orderId,
    datacontenttype: 'application/json',
    data,
  };
}

/** Fields that a reader requires; all others are optional and unknown fields pass. */
const uuid = Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' });
const readable = Type.Object({
  id: uuid,
  type: Type.Optional(Type.String()),
  time: Type.Optional(Type.Unknown()),
  data: Type.Object({
    orderId: uuid,
    lines: Type.Optional(
      Type.Array(Type.Object({ productId: Type.Integer(), quantity: Type.Integer({ minimum: 1 }) })),
    ),
    // A number, or in version 2 an amount with its currency.
    total: Type.Optional(
      Type.Union([
        Type.Integer({ minimum: 0 }),
        Type.Object({ amount: Type.Integer({ minimum: 0 }), currency: Type.Optional(Type.String()) }),
      ]),
    ),
    currency: Type.Optional(Type.String()),
  }),
});
const Readable = Compile(readable);

/** The shop's only currency: what an event without one means. */
const DEFAULT_CURRENCY = 'UAH';

/** An event as shipping reads it, missing fields filled with defaults. */
export interface ParsedOrderConfirmed extends OrderConfirmed {
  readonly messageId: string;
  readonly type: string;
  /** When the order was confirmed; undefined where the event says no time that can be read. */
  readonly time: Date | undefined;
}

/**
 * Tolerant reader: last year's events and tomorrow's both pass when they say which message and which order.
 * Throws PermanentError, without the message's content, when they do not: no redelivery would help.
 */
export function parseOrderConfirmed(content: Uint8Array): ParsedOrderConfirmed {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content));
  } catch (error) {
    throw new PermanentError('the message is not JSON', { cause: error });
  }
  if (!Readable.Check(body)) {
    const [first] = Readable.Errors(body);
    throw new PermanentError(
      `the message is not an order.confirmed event: ${first?.instancePath || '/'} ${first?.message}`,
    );
  }
  return {
    messageId: body.id.toLowerCase(),
    type: body.type ?? ORDER_CONFIRMED,
    time: timeOf(body.time),
    orderId: body.data.orderId.toLowerCase(),
    lines: body.data.lines ?? [],
    ...moneyOf(body.data),
  };
}

function timeOf(text: unknown): Date | undefined {
  const time = new Date(typeof text === 'string' ? text : Number.NaN);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** Amount and currency of either version. */
function moneyOf({ total = 0, currency }: Pick<Static<typeof readable>['data'], 'total' | 'currency'>) {
  const money = typeof total === 'number' ? { amount: total, currency } : total;
  return { total: money.amount, currency: money.currency ?? currency ?? DEFAULT_CURRENCY };
}
