import { optionsOf, seed } from './lib/environment.ts';
import { placeOrder, turn } from './lib/place-order.ts';
import { confirmedWish } from './lib/wishes.ts';

export { handleSummary } from './lib/summary.ts';
export const options = optionsOf('ramp');

export default function (): void {
  const { phase, index } = turn();
  placeOrder(confirmedWish(seed, phase, index));
}
