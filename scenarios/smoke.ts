import http from 'k6/http';
import { Rate } from 'k6/metrics';
import { optionsOf, seed, shopUrl } from './lib/environment.ts';
import { CLIENT_TIMEOUT_MS } from './lib/k6-options.ts';
import { confirmedOrder } from './lib/order-mix.ts';
import { placeOrder, turn } from './lib/place-order.ts';

/** `GET /api/orders/{id}` shows the order as its response did. */
const readBack = new Rate('order_read_back');

export { handleSummary } from './lib/summary.ts';

export const options = optionsOf('smoke', { order_read_back: ['rate==1'] });

export default function (): void {
  const { phase, index } = turn();
  const { orderId, status } = placeOrder(confirmedOrder(seed, phase, index));
  if (orderId === undefined || status === undefined) return;
  const response = http.get(`${shopUrl}/api/orders/${orderId}`, {
    timeout: `${CLIENT_TIMEOUT_MS}ms`,
    tags: { name: 'read order' },
  });
  readBack.add(response.status === 200 && response.json('status') === status);
}
