import type { Clock } from './invariant.ts';
import { SHIPMENT_LIMIT_MS } from './invariants/shipments.ts';
import type { AuditTarget } from './target.ts';

/** How long a message that was received may take to be acknowledged, on a machine that does other things; in ms. */
const ACKNOWLEDGE_LIMIT_MS = 5_000;

/**
 * How many events may have been in the queue when it was read, a moment ago. They were published in the last 15 s or
 * are about to be, of an order that is younger than the settled state, and not received long before. Rejects when a
 * database cannot be asked.
 */
export async function readOnTheirWay({ databases }: Pick<AuditTarget, 'databases'>, clock: Clock): Promise<number> {
  const events = await databases.query<{ id: string }>(
    'orders',
    `SELECT id::text FROM outbox
     WHERE (published_at IS NULL OR published_at > to_timestamp($1::float8 / 1000))
       AND ($2::float8 IS NULL OR created_at > to_timestamp($2::float8 / 1000))`,
    [clock.at - SHIPMENT_LIMIT_MS, clock.settledAt ?? null],
  );
  if (events.length === 0) return 0;
  const [row] = await databases.query<{ count: number }>(
    'shipping',
    `SELECT count(*)::int AS count FROM inbox
     WHERE message_id = ANY ($1::uuid[]) AND received_at < to_timestamp($2::float8 / 1000)`,
    [events.map(({ id }) => id), clock.at - ACKNOWLEDGE_LIMIT_MS],
  );
  return events.length - (row?.count ?? 0);
}
