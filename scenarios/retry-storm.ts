import { Rate } from 'k6/metrics';
import { optionsOf, seed } from './lib/environment.ts';
import { placeRepeatedly, repeatOrder, turn } from './lib/place-order.ts';
import { confirmedWish } from './lib/wishes.ts';

/** Every answer that names an order names the same one. */
const oneOrder = new Rate('one_order_per_key');
const AT_ONCE = 3;

export { handleSummary } from './lib/summary.ts';

const base = optionsOf('retry-storm');
export const options = { ...base, thresholds: { ...base.thresholds, one_order_per_key: ['rate==1'] } };

export default function (): void {
  const { phase, index } = turn();
  const wish = confirmedWish(seed, phase, index);
  // While the first is in work the others may be told so.
  const first = placeRepeatedly(wish, AT_ONCE, ({ status }) => status === 409);
  const last = repeatOrder(wish);
  const ids = new Set([...first, last].flatMap(({ orderId }) => orderId ?? []));
  oneOrder.add(ids.size <= 1);
}
