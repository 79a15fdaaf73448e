import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { formatTable } from '../../output/table.ts';
import { withShopDatabases } from '../../shop/databases.ts';
import { formatMoney } from '../../shop/money.ts';
import { listProducts, listStock } from '../../shop/products-table.ts';

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
