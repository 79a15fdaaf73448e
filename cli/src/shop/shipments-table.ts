import type { ShopDatabases } from './databases.ts';

/** Those of the orders that have no shipment. */
export async function unshippedOf(databases: ShopDatabases, orderIds: readonly string[]): Promise<string[]> {
  const text = 'SELECT "OrderId"::text AS id FROM "Shipments" WHERE "OrderId" = ANY ($1::uuid[])';
  const rows = await databases.query<{ id: string }>('shipping', text, [orderIds]);
  const shipped = new Set(rows.map(({ id }) => id));
  return orderIds.filter((id) => !shipped.has(id));
}
