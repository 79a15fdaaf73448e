/** Seeded products that are affordable and plenty (docs/architecture.md, "Databases"), in turn. */
const PRODUCTS = [1, 2, 3, 4, 5, 6, 7, 8, 9] as const;

let turn = 0;

/** The next order's product: every case spreads its orders over the same nine rows of inventory. */
export function nextProduct(): number {
  return PRODUCTS[turn++ % PRODUCTS.length] as number;
}
