import type { OpenApiOptions } from '@shop/kit/openapi.ts';
import {
  IdempotencyKey,
  OpenOrder,
  OpenOrderV2,
  Order,
  OrderRequest,
  OrderRequestV2,
  OrderV2,
  PlacedOrder,
  placingProblems,
} from '@shop/kit/order-api.ts';
import { problemResponse } from '@shop/kit/problem-api.ts';

const json = (description: string, schema: object) => ({ description, content: { 'application/json': { schema } } });
const problem = problemResponse('Any failure');

interface Bodies {
  readonly request: object;
  readonly order: object;
  readonly openOrder: object;
}

const placing = ({ request }: Bodies) => ({
  summary: 'Place an order; responds when it is confirmed or cancelled',
  parameters: [{ name: 'Idempotency-Key', in: 'header' as const, required: false, schema: IdempotencyKey }],
  requestBody: { required: true, ...json('The order', request) },
  responses: {
    200: json('The order was cancelled, by this request or an earlier one with its key', PlacedOrder),
    201: json('The order was confirmed, by this request or an earlier one with its key', PlacedOrder),
    ...placingProblems,
  },
});

const showing = ({ order, openOrder }: Bodies) => ({
  summary: 'Show an order',
  parameters: [
    { name: 'id', in: 'path' as const, required: true, schema: { type: 'string' as const, format: 'uuid' } },
  ],
  responses: {
    200: json('The order', order),
    202: json('The order is still being worked on; ask again after Retry-After', openOrder),
    default: problem,
  },
});

const one = { request: OrderRequest, order: Order, openOrder: OpenOrder };
const two = { request: OrderRequestV2, order: OrderV2, openOrder: OpenOrderV2 };

/**
 * The public API. Its routes pass requests on, so the paths are written here and not collected from routes; the schemas of
 * version 1 are those that orders validates with.
 */
export const publicApi = {
  openapi: {
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1.0.0', description: 'Places and shows orders' },
    paths: {
      '/api/orders': { post: placing(one) },
      '/api/orders/{id}': { get: showing(one) },
      '/api/v2/orders': { post: placing(two) },
      '/api/v2/orders/{id}': { get: showing(two) },
    },
  },
} satisfies OpenApiOptions;
