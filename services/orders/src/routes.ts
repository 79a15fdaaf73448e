import { createAdmission } from '@shop/kit/admission.ts';
import type { Database } from '@shop/kit/database.ts';
import { DEADLINE_HEADER, Deadline } from '@shop/kit/deadline.ts';
import { ORDER_BUDGET_MS } from '@shop/kit/edges.ts';
import type { Failpoint } from '@shop/kit/failpoints.ts';
import { IdempotencyKey, OpenOrder, Order, OrderRequest, PlacedOrder, placingProblems } from '@shop/kit/order-api.ts';
import { problemResponse } from '@shop/kit/problem-api.ts';
import { ProblemError } from '@shop/kit/problems.ts';
import type { HttpServer } from '@shop/kit/server.ts';
import { Type } from 'typebox';
import { locationOf, type PlaceOrder } from './place-order.ts';
import { findOrder, type OrderRecord } from './repository.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Orders placed concurrently, and queued: more concurrency only adds latency. */
export const ADMISSION = { maxConcurrent: 48, maxQueued: 512 } as const;

const placing = {
  summary: 'Place an order; responds when it is confirmed or cancelled',
  headers: Type.Object({ 'idempotency-key': Type.Optional(IdempotencyKey) }),
  body: OrderRequest,
  response: {
    200: PlacedOrder,
    201: PlacedOrder,
    ...placingProblems,
  },
};

const showing = {
  summary: 'Show an order',
  response: {
    200: Order,
    202: OpenOrder,
    404: problemResponse('There is no such order'),
    default: problemResponse('Any other failure'),
  },
};

export interface RouteOptions {
  readonly database: Database;
  readonly placeOrder: PlaceOrder;
  readonly failpoint: Failpoint<'orders'>;
}

export function addOrderRoutes(server: HttpServer, { database, placeOrder, failpoint }: RouteOptions): void {
  const admit = createAdmission(ADMISSION);

  const responded = async () => {
    HARNESS: await failpoint('order-decided:response-sent');
  };

  server.post('/orders', { schema: placing, onResponse: responded }, async (request, reply) => {
    const deadline = Deadline.fromHeader(request.headers[DEADLINE_HEADER], ORDER_BUDGET_MS);
    const key = request.headers['idempotency-key'];
    const order = await admit(() => placeOrder(request.body, key, deadline));
    HARNESS: await failpoint('order-decided:response-unsent');
    reply.code(order.status === 'Confirmed' ? 201 : 200).header('location', locationOf(order.id));
    return { id: order.id, status: order.status, ...(order.reason === null ? {} : { reason: order.reason }) };
  });

  server.get<{ Params: { id: string } }>(
    '/orders/:id',
    { config: { otelRoute: '/orders/{id}' }, schema: showing },
    async (request, reply) => {
      const { id } = request.params;
      const order = UUID.test(id) ? await findOrder(database, id) : undefined;
      if (order === undefined) throw new ProblemError('order_not_found', 'no order has this id');
      if (order.status === null) reply.code(202).header('retry-after', '1');
      return toBody(order);
    },
  );
}

function toBody(order: OrderRecord): object {
  return {
    id: order.id,
    ...(order.status === null ? {} : { status: order.status }),
    ...(order.reason === null ? {} : { reason: order.reason }),
    total: order.totalKopiykas,
    currency: order.currency,
    lines: order.lines.map(({ productId, quantity, priceKopiykas }) => ({ productId, quantity, price: priceKopiykas })),
    createdAt: order.createdAt.toISOString(),
  };
}
