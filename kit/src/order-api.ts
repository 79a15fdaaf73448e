import { Type } from 'typebox';

/*
 * The public order API, which orders validates with and gateway publishes: one set of schemas, so that what is documented
 * is what is checked.
 */

export const MAX_LINES = 100;
export const MAX_QUANTITY = 1_000;

/** Ids are int32 on the wire to stock. */
const MAX_PRODUCT_ID = 2_147_483_647;

/** Text without control characters and lone surrogates, which neither PostgreSQL nor JSON can keep. */
const PRINTABLE = '^(?=[^]*\\S)[^\\p{Cc}\\p{Cs}]*$';

const line = {
  productId: Type.Integer({ minimum: 1, maximum: MAX_PRODUCT_ID }),
  quantity: Type.Integer({ minimum: 1, maximum: MAX_QUANTITY }),
};

/** The body of `POST /orders`; unknown fields are errors. */
export const OrderRequest = Type.Object(
  {
    customer: Type.String({ minLength: 1, maxLength: 200, pattern: PRINTABLE }),
    lines: Type.Array(Type.Object(line, { additionalProperties: false }), { minItems: 1, maxItems: MAX_LINES }),
  },
  { additionalProperties: false },
);

const id = Type.String({ format: 'uuid' });
const status = Type.Unsafe<'Confirmed' | 'Cancelled'>({ type: 'string', enum: ['Confirmed', 'Cancelled'] });
const reason = Type.Optional(Type.String({ description: 'Present when the status is Cancelled' }));

/** The answer to `POST /orders`. */
export const PlacedOrder = Type.Object({ id, status, reason });

const shown = {
  reason,
  total: Type.Integer({ description: 'Minor units (kopiykas)' }),
  currency: Type.String(),
  lines: Type.Array(Type.Object({ ...line, price: Type.Integer({ description: 'Of one unit, in minor units' }) })),
  createdAt: Type.String({ format: 'date-time' }),
};

/** The answer to `GET /orders/{id}` once the order is decided. */
export const Order = Type.Object({ id, status, ...shown });

/** The same while its saga runs: there is no status yet. */
export const OpenOrder = Type.Object({ id, ...shown });

/** The header of `POST /orders`: visible ASCII, as a field value has it; the draft of the header leaves the syntax to the server. */
export const IdempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x21-\\x7e]+$',
  description: 'The same key and body give the first response again',
});
