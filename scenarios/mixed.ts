import { optionsOf, seed } from './lib/environment.ts';
import { mixedOrder } from './lib/order-mix.ts';
import { placeOrder, turn } from './lib/place-order.ts';

export { handleSummary } from './lib/summary.ts';
export const options = optionsOf('mixed');

export default function (): void {
  const { phase, index } = turn();
  placeOrder(mixedOrder(seed, phase, index));
}
