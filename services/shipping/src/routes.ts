import { ProblemError } from '@shop/kit/problems.ts';
import type { HttpServer } from '@shop/kit/server.ts';
import { Type } from 'typebox';
import type { Shipments } from './repository.ts';

const OrderId = Type.String({ pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' });

/** For people: the services do not ask. */
export function addRoutes(server: HttpServer, shipments: Pick<Shipments, 'find'>): void {
  server.get('/shipments/:orderId', { schema: { params: Type.Object({ orderId: OrderId }) } }, async ({ params }) => {
    const shipment = await shipments.find(params.orderId.toLowerCase());
    if (shipment === undefined) throw new ProblemError('shipment_not_found', 'nothing was shipped for such an order');
    return shipment;
  });
}
