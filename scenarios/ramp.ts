import { optionsOf, seed } from './lib/environment.ts';
import { confirmedOrder } from './lib/order-mix.ts';
import { placeOrder, turn } from './lib/place-order.ts';

export { handleSummary } from './lib/summary.ts';
export const options = optionsOf('ramp');

export default function (): void {
  const { phase, index } = turn();
  placeOrder(confirmedOrder(seed, phase, index));
}
