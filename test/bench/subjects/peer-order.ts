import { randomUUID } from 'node:crypto';
import { createOrderConfirmed } from '../../../kit/src/events.ts';
import type { createDownstream } from './shop-sql.ts';

/** Runs one step of a peer's workflow durably and resolves with its result. */
export type RunStep = <T>(name: string, step: () => Promise<T>) => Promise<T>;

/**
 * The order as a workflow of another engine: the same four calls with the same SQL, each a step. The engine's own records
 * take the place of the saga's row and of the outbox, which are left out.
 */
export async function runPeerOrder(
  downstream: ReturnType<typeof createDownstream>,
  run: RunStep,
  { orderId, productId }: { orderId: string; productId: number },
): Promise<void> {
  const lines = [{ productId, quantity: 1 }];
  const total = await run('price', () => downstream.price(productId));
  await run('reserve stock', () => downstream.reserve(orderId, lines));
  await run('charge payment', () => downstream.charge(orderId, total));
  const event = createOrderConfirmed(randomUUID(), new Date(), { orderId, lines, total, currency: 'UAH' });
  await run('ship', () => downstream.ship(event));
}
