import http from 'k6/http';
import { Rate } from 'k6/metrics';
import { optionsOf, seed, shopUrl } from './lib/environment.ts';
import { CLIENT_TIMEOUT_MS } from './lib/k6-options.ts';
import { placeOrder, turn } from './lib/place-order.ts';
import { confirmedWish } from './lib/wishes.ts';

/** An order that was confirmed is found as such under its id. */
const readBack = new Rate('order_read_back');

export { handleSummary } from './lib/summary.ts';

const base = optionsOf('smoke');
export const options = { ...base, thresholds: { ...base.thresholds, order_read_back: ['rate==1'] } };

export default function (): void {
  const { phase, index } = turn();
  const { orderId } = placeOrder(confirmedWish(seed, phase, index));
  if (orderId === undefined) return;
  const answer = http.get(`${shopUrl}/api/orders/${orderId}`, {
    timeout: `${CLIENT_TIMEOUT_MS}ms`,
    tags: { name: 'read order' },
  });
  readBack.add(answer.status === 200 && answer.json('status') === 'Confirmed');
}
