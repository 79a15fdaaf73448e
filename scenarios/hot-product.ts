import { optionsOf } from './lib/environment.ts';
import { hotProductOrder } from './lib/order-mix.ts';
import { placeOrder } from './lib/place-order.ts';

export { handleSummary } from './lib/summary.ts';
export const options = optionsOf('hot-product');

export default function (): void {
  placeOrder(hotProductOrder());
}
