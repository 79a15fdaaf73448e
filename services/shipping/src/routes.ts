import { problemResponse } from '@shop/kit/problem-api.ts';
import { ProblemError } from '@shop/kit/problems.ts';
import type { HttpServer } from '@shop/kit/server.ts';
import { Type } from 'typebox';
import type { Shipments } from './repository.ts';

const OrderId = Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' });

const Shipment = Type.Object({
  id: Type.String({ format: 'uuid' }),
  orderId: OrderId,
  lines: Type.Array(Type.Object({ productId: Type.Integer(), quantity: Type.Integer() })),
  createdAt: Type.String({ format: 'date-time' }),
});

const showing = {
  summary: 'The shipment of an order',
  params: Type.Object({ orderId: OrderId }),
  response: {
    200: Shipment,
    400: problemResponse('The order id is not a UUID'),
    404: problemResponse('The order has no shipment, or none yet'),
    default: problemResponse('Any other failure'),
  },
};

/** For operators: no service calls it. */
export function addRoutes(server: HttpServer, shipments: Pick<Shipments, 'find'>): void {
  server.get('/shipments/:orderId', { schema: showing }, async ({ params }) => {
    const shipment = await shipments.find(params.orderId.toLowerCase());
    if (shipment === undefined) throw new ProblemError('shipment_not_found', 'nothing was shipped for such an order');
    return { ...shipment, lines: [...shipment.lines], createdAt: shipment.createdAt.toISOString() };
  });
}
