import { poll } from '../../../cli/src/shared/wait-until.ts';
import type { ShopDatabases } from '../../../cli/src/shop/databases.ts';

const DRAINED_LIMIT_MS = 120_000;
const LOOK_EVERY_MS = 20;

/**
 * Makes every published event unpublished again, as `shopctl outbox redrive` does, and resolves with the events a second
 * at which one relay published them all. The time begins with its first batch. Throws when it does not end in time.
 */
export async function drainOutbox(databases: ShopDatabases): Promise<{ events: number; eventsPerSecond: number }> {
  const events = (await databases.query('orders', 'UPDATE outbox SET published_at = NULL RETURNING 1')).length;
  const deadline = performance.now() + DRAINED_LIMIT_MS;
  let first: { atMs: number; pending: number } | undefined;
  const lookForEnd = async () => {
    const now = { atMs: performance.now(), pending: await pendingEvents(databases) };
    // Between a batch and the next: the relay decides when it begins.
    if (now.pending < events) first ??= now;
    if (now.pending === 0 && first !== undefined && first.pending > 0) {
      return { events, eventsPerSecond: (1_000 * first.pending) / (now.atMs - first.atMs) };
    }
    if (now.atMs > deadline) throw new Error(`${now.pending} of ${events} events were not published in time`);
    return undefined;
  };
  return poll(lookForEnd, { everyMs: LOOK_EVERY_MS });
}

async function pendingEvents(databases: ShopDatabases): Promise<number> {
  const [row] = await databases.query<{ count: number }>(
    'orders',
    'SELECT count(*)::int AS count FROM outbox WHERE published_at IS NULL',
  );
  return row?.count ?? 0;
}
