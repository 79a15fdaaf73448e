import { type TObject, Type } from 'typebox';

/*
 * What the publisher promises, by event type: the committed JSON Schemas of contracts/events are these. Readers promise
 * less: they take what `parseOrderConfirmed` takes.
 */

export const EVENT_SOURCE = '/shop/orders';
export const ORDER_CONFIRMED = 'order.confirmed';
/** Total as one amount of money, and the price of each line: fields changed their type, so it is another event type. */
export const ORDER_CONFIRMED_V2 = 'order.confirmed.v2';

const uuid = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });
const minorUnits = (description: string) => Type.Integer({ minimum: 0, description: `${description}, in minor units` });
const currency = Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217' });
const line = { productId: Type.Integer({ minimum: 1 }), quantity: Type.Integer({ minimum: 1 }) };

/** CloudEvents 1.0 in JSON. */
function event<const Name extends string, Data extends TObject>(type: Name, data: Data) {
  return Type.Object(
    {
      specversion: Type.Literal('1.0'),
      id: Type.String({ ...uuid, description: 'Id of the outbox row: a repeated delivery has the same' }),
      type: Type.Literal(type),
      source: Type.Literal(EVENT_SOURCE),
      time: Type.String({ format: 'date-time' }),
      subject: Type.String({ ...uuid, description: 'Id of the order' }),
      datacontenttype: Type.Literal('application/json'),
      data,
    },
    { $schema: 'https://json-schema.org/draft/2020-12/schema', $id: `urn:shop:event:${type}`, title: type },
  );
}

export const eventSchemas = {
  [ORDER_CONFIRMED]: event(
    ORDER_CONFIRMED,
    Type.Object({
      orderId: uuid,
      lines: Type.Array(Type.Object(line)),
      total: minorUnits('Of the whole order'),
      currency,
    }),
  ),
  [ORDER_CONFIRMED_V2]: event(
    ORDER_CONFIRMED_V2,
    Type.Object({
      orderId: uuid,
      lines: Type.Array(Type.Object({ ...line, unitPrice: minorUnits('Of one unit') })),
      total: Type.Object({ amount: minorUnits('Of the whole order'), currency }),
    }),
  ),
} as const;
