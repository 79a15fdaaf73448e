import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { PermanentError } from './failures.ts';

export const ORDER_CONFIRMED = 'order.confirmed';
export const EVENT_SOURCE = '/shop/orders';

export interface OrderConfirmed {
  readonly orderId: string;
  readonly lines: readonly { readonly productId: number; readonly quantity: number }[];
  /** Minor units (kopiykas). */
  readonly total: number;
  readonly currency: string;
}

/** An event as CloudEvents 1.0 in JSON. `id` is the outbox row's id, `subject` the order's. */
export interface OrderConfirmedEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly type: string;
  readonly source: string;
  /** RFC 3339. */
  readonly time: string;
  readonly subject: string;
  readonly datacontenttype: 'application/json';
  readonly data: OrderConfirmed;
}

export function createOrderConfirmed(id: string, time: Date, data: OrderConfirmed): OrderConfirmedEvent {
  return {
    specversion: '1.0',
    id,
    type: ORDER_CONFIRMED,
    source: EVENT_SOURCE,
    time: time.toISOString(),
    subject: data.orderId,
    datacontenttype: 'application/json',
    data,
  };
}

/** What a reader cannot do without; all else is optional and unknown fields pass. */
const uuid = Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' });
const Readable = Compile(
  Type.Object({
    id: uuid,
    type: Type.Optional(Type.String()),
    data: Type.Object({
      orderId: uuid,
      lines: Type.Optional(
        Type.Array(Type.Object({ productId: Type.Integer(), quantity: Type.Integer({ minimum: 1 }) })),
      ),
      total: Type.Optional(Type.Integer({ minimum: 0 })),
      currency: Type.Optional(Type.String()),
    }),
  }),
);

/** What shipping takes from an event, missing fields filled with defaults. */
export interface ReadOrderConfirmed extends OrderConfirmed {
  readonly messageId: string;
  readonly type: string;
}

/**
 * Tolerant reader: last year's events and tomorrow's both pass when they say which message and which order.
 * Throws PermanentError, without the message's content, when they do not: no redelivery would help.
 */
export function parseOrderConfirmed(content: Uint8Array): ReadOrderConfirmed {
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
    orderId: body.data.orderId.toLowerCase(),
    lines: body.data.lines ?? [],
    total: body.data.total ?? 0,
    currency: body.data.currency ?? 'UAH',
  };
}
