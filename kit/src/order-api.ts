import { Type } from 'typebox';
import { problemResponse } from './problem-api.ts';

/*
 * The public order API, which orders validates with and gateway publishes: one set of schemas, so that what is documented
 * is what is checked.
 */

export const MAX_LINES = 100;
export const MAX_QUANTITY = 1_000;

/** Ids are int32 on the wire to stock. */
const MAX_PRODUCT_ID = 2_147_483_647;

/**
 * Text without control characters that is not only space. In a spelling that other dialects than JavaScript's read too, and
 * that takes linear time: spaces, the first other character, the rest.
 */
const PRINTABLE = '^[^\\S\\x00-\\x1f\\x7f-\\x9f]*[^\\s\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*$';

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

/** The response to `POST /orders`. */
export const PlacedOrder = Type.Object({ id, status, reason });

const shown = {
  reason,
  total: Type.Integer({ description: 'Minor units (kopiykas)' }),
  currency: Type.String(),
  lines: Type.Array(Type.Object({ ...line, price: Type.Integer({ description: 'Of one unit, in minor units' }) })),
  createdAt: Type.String({ format: 'date-time' }),
};

/** The response to `GET /orders/{id}` once the order is decided. */
export const Order = Type.Object({ id, status, ...shown });

/** The same while its saga runs: there is no status yet. */
export const OpenOrder = Type.Object({ id, ...shown });

const money = Type.Object({
  amount: Type.Integer({ description: 'Minor units (kopiykas)' }),
  currency: Type.String(),
});

const shownV2 = {
  reason,
  total: money,
  lines: Type.Array(
    Type.Object({ ...line, unitPrice: Type.Integer({ description: 'In minor units of the currency of `total`' }) }),
  ),
  createdAt: shown.createdAt,
};

/** The body of `POST /api/v2/orders`: unknown fields have no effect. */
export const OrderRequestV2 = Type.Object({
  customer: OrderRequest.properties.customer,
  lines: Type.Array(Type.Object(line), { minItems: 1, maxItems: MAX_LINES }),
});

/** The response to `GET /api/v2/orders/{id}` once the order is decided. */
export const OrderV2 = Type.Object({ id, status, ...shownV2 });

/** The same while its saga runs. */
export const OpenOrderV2 = Type.Object({ id, ...shownV2 });

/** The header of `POST /orders`: visible ASCII, as a field value has it; the draft of the header leaves the syntax to the server. */
export const IdempotencyKey = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x21-\\x7e]+$',
  description: 'The same key and body give the first response again',
});

/** How an order may be rejected. The limit of 1,000 units per product is the only rule of a body beyond the schema. */
export const placingProblems = {
  400: problemResponse(
    `The request does not fit its schema, is not JSON, or has lines of one product that sum to more than ${MAX_QUANTITY} units`,
  ),
  409: problemResponse('The first request with this Idempotency-Key is still running'),
  422: problemResponse(
    'A product does not exist or has another currency, the total is too large, or the Idempotency-Key was used otherwise',
  ),
  default: problemResponse('Any other failure'),
} as const;
