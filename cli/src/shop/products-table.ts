import type { ShopDatabases } from './databases.ts';

/** A product of the catalog. */
interface Product {
  readonly id: number;
  readonly name: string;
  readonly priceKopiykas: number;
  readonly currency: string;
}

/** What stock has of a product; pieces. */
interface StockLevel {
  readonly productId: number;
  readonly onHand: number;
  /** Before the first order. */
  readonly initial: number;
  /** By orders that have not given them back. */
  readonly reserved: number;
}

/** In the order of their ids. */
export function listProducts(databases: ShopDatabases): Promise<Product[]> {
  return databases.query<Product>(
    'catalog',
    'SELECT id, name, price_kopiykas::float8 AS "priceKopiykas", currency FROM products ORDER BY id',
  );
}

/** In the order of products. */
export function listStock(databases: ShopDatabases): Promise<StockLevel[]> {
  return databases.query<StockLevel>(
    'stock',
    `SELECT product_id AS "productId", on_hand AS "onHand", initial_on_hand AS "initial", initial_on_hand - on_hand AS "reserved"
       FROM inventory ORDER BY product_id`,
  );
}
