import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { formatTable } from '../../output/table.ts';
import { withShopDatabases } from '../../shop/databases.ts';
import { parseIdPrefix } from '../../shop/id-prefix.ts';
import { formatMoney } from '../../shop/money.ts';
import { formatFacts, orderFacts, paintStatus, sagaFacts } from '../../shop/order-page.ts';
import { listOrders, type OrderRow, readCustomer, readOrder } from '../../shop/orders-table.ts';
import { formatTime, shortId } from '../../shop/times.ts';

export interface OrderGetOptions extends CommonOptions {
  readonly showCustomer?: boolean;
}

export interface OrderListOptions extends CommonOptions {
  readonly limit: number;
  readonly status?: 'Confirmed' | 'Cancelled' | 'open';
}

/** `shopctl order get`: the order as recorded; its customer only when that is asked for. */
export async function runOrderGet(id: string, options: OrderGetOptions, deps: CommandDeps): Promise<void> {
  const range = parseIdPrefix(id, 'order');
  const connection = await deps.connect(deps.projectFrom(options));
  const order = await withShopDatabases(connection, async (databases) => {
    const found = await readOrder(databases, range);
    return options.showCustomer ? { ...found, customer: await readCustomer(databases, found.id) } : found;
  });
  deps.output.result(order, () => {
    const customer: [string, string][] = 'customer' in order ? [['customer', order.customer ?? '-']] : [];
    return formatFacts([...orderFacts(order), ...customer, ...sagaFacts(order)], deps.output);
  });
}

/** `shopctl order list`: newest first. */
export async function runOrderList(options: OrderListOptions, deps: CommandDeps): Promise<void> {
  const connection = await deps.connect(deps.projectFrom(options));
  const { status, limit } = options;
  const orders = await withShopDatabases(connection, (databases) => listOrders(databases, { status, limit }));
  deps.output.result(orders, () => describe(orders, deps));
}

function describe(orders: readonly OrderRow[], { output }: CommandDeps): string {
  if (orders.length === 0) return 'no orders; place one with "shopctl order"';
  return formatTable(
    ['ORDER', 'STATUS', 'REASON', 'TOTAL', 'PLACED'],
    orders.map((order) => [
      shortId(order.id),
      paintStatus(order.status, output),
      order.reason ?? '',
      formatMoney(order.totalKopiykas, order.currency),
      formatTime(order.createdAt),
    ]),
  );
}
