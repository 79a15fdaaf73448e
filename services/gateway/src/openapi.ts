import type { OpenApiOptions } from '@shop/kit/openapi.ts';
import { IdempotencyKey, OpenOrder, Order, OrderRequest, PlacedOrder, placingProblems } from '@shop/kit/order-api.ts';
import { problemResponse } from '@shop/kit/problem-api.ts';

const json = (description: string, schema: object) => ({ description, content: { 'application/json': { schema } } });
const problem = problemResponse('Any failure');

/**
 * The public API. Its one route passes everything on, so the paths are written here and not collected from routes; the
 * schemas are those that orders validates with.
 */
export const publicApi = {
  openapi: {
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1.0.0', description: 'Places and shows orders' },
    paths: {
      '/api/orders': {
        post: {
          summary: 'Place an order; responds when it is confirmed or cancelled',
          parameters: [{ name: 'Idempotency-Key', in: 'header', required: false, schema: IdempotencyKey }],
          requestBody: { required: true, ...json('The order', OrderRequest) },
          responses: {
            200: json('The order was cancelled, by this request or an earlier one with its key', PlacedOrder),
            201: json('The order was confirmed, by this request or an earlier one with its key', PlacedOrder),
            ...placingProblems,
          },
        },
      },
      '/api/orders/{id}': {
        get: {
          summary: 'Show an order',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }],
          responses: {
            200: json('The order', Order),
            202: json('The order is still being worked on; ask again after Retry-After', OpenOrder),
            default: problem,
          },
        },
      },
    },
  },
} satisfies OpenApiOptions;
