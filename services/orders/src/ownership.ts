import { randomUUID } from 'node:crypto';
import { type Database, sql } from '@shop/kit/database.ts';
import { messageOf } from '@shop/kit/failures.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { untraced } from '@shop/kit/tracing.ts';

const RENEW_EVERY_MS = 1_000;
/** Five missed renewals. Also how long the sagas of a killed instance wait for adoption, at most. */
const LEASE_MS = 5_000;

const renewLease = sql(
  'INSERT saga_owners: renew',
  `INSERT INTO saga_owners (id, instance, lease_until) VALUES ($1, $2, now() + $3 * interval '1 millisecond')
   ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until`,
);
const endLease = sql('DELETE saga_owners: end', 'DELETE FROM saga_owners WHERE id = $1');
const deleteOld = sql(
  'DELETE saga_owners: old',
  `DELETE FROM saga_owners w WHERE lease_until < now() - interval '1 hour'
     AND NOT EXISTS (SELECT FROM orders o WHERE o.open AND o.owner = w.id)`,
);

/**
 * This process's lease over the sagas it drives: one row renewed by the database's clock, whatever the number of sagas.
 * It dies with the process. A process that was paused past it finds its sagas adopted, and its saves refused.
 */
export interface Ownership extends AsyncDisposable {
  readonly id: string;
  /** Resolves once the lease holds: an order inserted without one would be adopted at once. Rejects with DatabaseUnavailableError. */
  ensure(): Promise<void>;
}

export function createOwnership(options: { database: Database; instance: string; logger: Logger }): Ownership {
  const { database, instance, logger } = options;
  const id = randomUUID();
  /** When the lease was last asked for, on the monotonic clock; the database's lease ends later than this and LEASE_MS. */
  let renewedAt = Number.NEGATIVE_INFINITY;
  let renewing: Promise<void> | undefined;

  async function renew(): Promise<void> {
    const askedAt = performance.now();
    await untraced(() => database.query(renewLease, [id, instance, LEASE_MS]));
    const first = renewedAt === Number.NEGATIVE_INFINITY;
    renewedAt = askedAt;
    if (first) await untraced(() => database.query(deleteOld, []));
  }

  function renewOnce(): Promise<void> {
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  const tick = () => {
    renewOnce().catch((error: unknown) => logger.debug({ reason: messageOf(error) }, 'the lease was not renewed'));
  };
  const timer = setInterval(tick, RENEW_EVERY_MS);
  tick();

  return {
    id,
    async ensure() {
      if (performance.now() - renewedAt > LEASE_MS - RENEW_EVERY_MS) await renewOnce();
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await renewing?.catch(() => undefined);
      await untraced(() => database.query(endLease, [id])).catch((error: unknown) =>
        logger.debug({ reason: messageOf(error) }, 'the lease was left to run out'),
      );
    },
  };
}
