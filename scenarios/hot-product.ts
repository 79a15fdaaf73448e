import { optionsOf } from './lib/environment.ts';
import { placeOrder } from './lib/place-order.ts';
import { hotWish } from './lib/wishes.ts';

export { handleSummary } from './lib/summary.ts';
export const options = optionsOf('hot-product');

export default function (): void {
  placeOrder(hotWish());
}
