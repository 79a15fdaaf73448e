import type { OpenApiOptions } from '@shop/kit/openapi.ts';
import { Type } from 'typebox';

const Line = Type.Object({
  productId: Type.Integer(),
  quantity: Type.Integer({ minimum: 1, maximum: 1_000 }),
});
const OrderRequest = Type.Object({
  customer: Type.String({ minLength: 1, maxLength: 200 }),
  lines: Type.Array(Line, { minItems: 1, maxItems: 100 }),
});
const PlacedOrder = Type.Object({
  id: Type.String({ format: 'uuid' }),
  status: Type.Enum(['Confirmed', 'Cancelled']),
  reason: Type.Optional(Type.String({ description: 'Present when the status is Cancelled' })),
});
const Order = Type.Object({
  ...PlacedOrder.properties,
  total: Type.Integer({ description: 'Minor units (kopiykas)' }),
  currency: Type.String(),
  lines: Type.Array(Line),
  createdAt: Type.String({ format: 'date-time' }),
});
const Problem = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  code: Type.String({ description: 'Stable, snake_case' }),
  traceId: Type.Optional(Type.String()),
  errors: Type.Optional(Type.Array(Type.Object({ pointer: Type.String(), detail: Type.String() }))),
});

const json = (description: string, schema: object) => ({ description, content: { 'application/json': { schema } } });
const problem = { description: 'Any failure', content: { 'application/problem+json': { schema: Problem } } };

/** The public API. Its one route passes everything on, so the document is written here and not collected from routes. */
export const publicApi = {
  openapi: {
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1.0.0', description: 'Places and shows orders' },
    paths: {
      '/api/orders': {
        post: {
          summary: 'Place an order; answers when it is confirmed or cancelled',
          parameters: [{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string' } }],
          requestBody: { required: true, ...json('The order', OrderRequest) },
          responses: {
            200: json('The order was cancelled, or it was placed by an earlier request with this key', PlacedOrder),
            201: json('The order is confirmed', PlacedOrder),
            default: problem,
          },
        },
      },
      '/api/orders/{id}': {
        get: {
          summary: 'Show an order',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }],
          responses: {
            200: json('The order', Order),
            202: { description: 'The order is still being worked on; ask again after Retry-After' },
            default: problem,
          },
        },
      },
    },
  },
} satisfies OpenApiOptions;
