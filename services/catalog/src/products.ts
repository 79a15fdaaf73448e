import { type Static, Type } from 'typebox';

/** A product on the wire. Money is in minor units (kopiykas), an integer. */
export const Product = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  name: Type.String(),
  price: Type.Integer({ minimum: 1, description: 'Minor units (kopiykas)' }),
  currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217' }),
});
export type Product = Static<typeof Product>;

/** Where products are kept. Both reject with DatabaseUnavailableError when it is unavailable. */
export interface Products {
  find(id: number): Promise<Product | undefined>;
  /** All of them by id; they are a dozen. */
  list(): Promise<readonly Product[]>;
}

/** PostgreSQL's integer, the type of a product's id. */
const MAX_ID = 2 ** 31 - 1;

/** The id in a path: `not an integer`, an integer that no product can have, or an id to look up. */
export function parseProductId(segment: string): 'not an integer' | 'out of range' | number {
  if (!/^-?\d+$/.test(segment)) return 'not an integer';
  const id = Number(segment);
  return id >= 1 && id <= MAX_ID ? id : 'out of range';
}
