/** Product 1 is plenty and cheap, two of product 2 are above the payment limit, product 3 is nearly sold out. */
export const PRICES: ReadonlyMap<number, number> = new Map([
  [1, 10_000],
  [2, 3_000_000],
  [3, 20_000],
]);
export const INVENTORY: ReadonlyMap<number, number> = new Map([
  [1, 100],
  [2, 100],
  [3, 1],
]);
