import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { formatTable } from '../../output/table.ts';
import { type ShopDatabases, withShopDatabases } from '../../shop/databases.ts';
import { formatMoney } from '../../shop/money.ts';

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

/** `shopctl products`: what can be ordered, in the order of its ids. */
export async function runProducts(options: CommonOptions, deps: CommandDeps): Promise<void> {
  const connection = await deps.connect(deps.projectFrom(options));
  const products = await withShopDatabases(connection, listProducts);
  deps.output.result(products, () =>
    formatTable(
      ['ID', 'PRICE', 'NAME'],
      products.map(({ id, name, priceKopiykas, currency }) => [String(id), formatMoney(priceKopiykas, currency), name]),
    ),
  );
}

/** `shopctl stock`: what there is of each product. */
export async function runStock(options: CommonOptions, deps: CommandDeps): Promise<void> {
  const connection = await deps.connect(deps.projectFrom(options));
  const levels = await withShopDatabases(connection, listStock);
  deps.output.result(levels, () =>
    formatTable(
      ['PRODUCT', 'ON HAND', 'RESERVED', 'AT FIRST'],
      levels.map(({ productId, ...counts }) => [productId, counts.onHand, counts.reserved, counts.initial].map(String)),
    ),
  );
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
