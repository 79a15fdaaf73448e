import type { ShopDatabases } from '../shop/databases.ts';

/** Of these orders those that are shipped, with the time; wall clock, ms. */
export async function readShipments(
  databases: ShopDatabases,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await databases.query<{ id: string; ms: number }>(
    'shipping',
    `SELECT "OrderId"::text AS id, (extract(epoch FROM "CreatedAt") * 1000)::float8 AS ms
       FROM "Shipments" WHERE "OrderId" = ANY($1::uuid[])`,
    [orderIds],
  );
  return new Map(rows.map(({ id, ms }) => [id, ms]));
}
