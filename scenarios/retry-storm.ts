import { Rate } from 'k6/metrics';
import { optionsOf, seed } from './lib/environment.ts';
import { confirmedOrder } from './lib/order-mix.ts';
import { placeRepeatedly, repeatOrder, turn } from './lib/place-order.ts';

/** Every response that names an order names the same one. */
const oneOrder = new Rate('one_order_per_key');
const CONCURRENCY = 3;

export { handleSummary } from './lib/summary.ts';

const base = optionsOf('retry-storm');
export const options = { ...base, thresholds: { ...base.thresholds, one_order_per_key: ['rate==1'] } };

export default function (): void {
  const { phase, index } = turn();
  const order = confirmedOrder(seed, phase, index);
  // While the first is in progress, the others may get 409.
  const first = placeRepeatedly(order, CONCURRENCY, ({ status }) => status === 409);
  const last = repeatOrder(order);
  const ids = new Set([...first, last].flatMap(({ orderId }) => orderId ?? []));
  oneOrder.add(ids.size <= 1);
}
