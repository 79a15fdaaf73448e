import { type Queryable, sql } from '@shop/kit/database.ts';
import type { Failpoint } from '@shop/kit/failpoints.ts';
import type { Product, Products } from './products.ts';

/** `bigint` arrives as text; prices are far below 2^53. */
interface ProductRow {
  readonly id: number;
  readonly name: string;
  readonly price_kopiykas: string;
  readonly currency: string;
}

const byId = sql('SELECT products: by id', 'SELECT id, name, price_kopiykas, currency FROM products WHERE id = $1');
const all = sql('SELECT products: all', 'SELECT id, name, price_kopiykas, currency FROM products ORDER BY id');

export function createProducts(database: Queryable, failpoint: Failpoint<'catalog'>): Products {
  return {
    async find(id) {
      HARNESS: await failpoint('product-requested:unread');
      const { rows } = await database.query<ProductRow>(byId, [id]);
      HARNESS: await failpoint('product-read:response-unsent');
      return rows[0] && toProduct(rows[0]);
    },
    async list() {
      const { rows } = await database.query<ProductRow>(all, []);
      return rows.map(toProduct);
    },
  };
}

function toProduct({ id, name, price_kopiykas, currency }: ProductRow): Product {
  return { id, name, price: Number(price_kopiykas), currency };
}
