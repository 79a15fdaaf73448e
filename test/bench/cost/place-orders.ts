import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import type { PlatformConnection } from '../../../cli/src/platform/connection.ts';
import { poll } from '../../../cli/src/shared/wait-until.ts';
import type { ShopDatabases } from '../../../cli/src/shop/databases.ts';

/** Affordable and plentiful: as many as an order of one line takes of them, each in turn. */
const PRODUCTS = [1, 2, 3, 4, 5, 6, 7, 8];
const SHIPPED_LIMIT_MS = 120_000;
const LOOK_EVERY_MS = 250;

/**
 * Places confirmed orders of one line, `concurrency` at a time, and resolves when each has its shipment, with the responses
 * a second. Throws when one is not confirmed, or a shipment does not come in time.
 */
export async function placeOrders(
  count: number,
  concurrency: number,
  { platform, databases }: { readonly platform: PlatformConnection; readonly databases: ShopDatabases },
): Promise<number> {
  const before = await shipments(databases);
  const pool = new Pool(platform.gatewayUrl, { connections: concurrency });
  let next = 0;
  async function client(): Promise<void> {
    while (next < count) {
      const productId = PRODUCTS[next++ % PRODUCTS.length];
      const body = JSON.stringify({ customer: 'bench', lines: [{ productId, quantity: 1 }] });
      const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
      const response = await pool.request({ path: '/api/orders', method: 'POST', headers, body });
      const text = await response.body.text();
      if (response.statusCode !== 201) throw new Error(`an order got ${response.statusCode}: ${text}`);
    }
  }
  const began = performance.now();
  try {
    await Promise.all(Array.from({ length: concurrency }, client));
  } finally {
    await pool.close();
  }
  const ordersPerSecond = (1_000 * count) / (performance.now() - began);
  await untilShipped(databases, before + count);
  return ordersPerSecond;
}

async function untilShipped(databases: ShopDatabases, wanted: number): Promise<void> {
  const deadline = performance.now() + SHIPPED_LIMIT_MS;
  const lookForEnd = async (): Promise<true | undefined> => {
    const found = await shipments(databases);
    if (found >= wanted) return true;
    if (performance.now() > deadline) throw new Error(`${found} of ${wanted} shipments came in ${SHIPPED_LIMIT_MS} ms`);
    return undefined;
  };
  await poll(lookForEnd, { everyMs: LOOK_EVERY_MS });
}

async function shipments(databases: ShopDatabases): Promise<number> {
  const [row] = await databases.query<{ count: number }>('shipping', 'SELECT count(*)::int AS count FROM "Shipments"');
  return row?.count ?? 0;
}
