import { optionsOf, seed } from './lib/environment.ts';
import { placeOrder, turn } from './lib/place-order.ts';
import { mixedWish } from './lib/wishes.ts';

export { handleSummary } from './lib/summary.ts';
export const options = optionsOf('mixed');

export default function (): void {
  const { phase, index } = turn();
  placeOrder(mixedWish(seed, phase, index));
}
