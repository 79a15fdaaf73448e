import type { ShopDatabases } from './databases.ts';
import { STUCK_AFTER_ATTEMPTS, STUCK_AFTER_MS } from './stuck.ts';

/** How many sagas have not ended. */
export interface OpenSagas {
  /** On their way to a decision. */
  readonly inFlight: number;
  /** Decided, with compensations left. */
  readonly compensating: number;
  /** Of both, those that need a look, by the same rules as `stuckReasons`. */
  readonly stuck: number;
}

/** Counts open sagas in the database, which is cheap: they have a separate index. Throws DatabaseError. */
export async function countOpenSagas(databases: ShopDatabases): Promise<OpenSagas> {
  const [row] = await databases.query<OpenSagas>(
    'orders',
    `SELECT count(*) FILTER (WHERE o.state <> 'Compensating')::int AS "inFlight",
            count(*) FILTER (WHERE o.state = 'Compensating')::int AS compensating,
            count(*) FILTER (WHERE o.created_at < now() - make_interval(secs => $1)
                                OR coalesce(w.lease_until <= now(), true) OR o.attempts > $2)::int AS stuck
     FROM orders o LEFT JOIN saga_owners w ON w.id = o.owner
     WHERE o.open`,
    [STUCK_AFTER_MS / 1000, STUCK_AFTER_ATTEMPTS],
  );
  return row ?? { inFlight: 0, compensating: 0, stuck: 0 };
}
