import { randomUUID } from 'node:crypto';
import { type Database, openDatabase, sql } from '@shop/kit/database.ts';
import { messageOf } from '@shop/kit/failures.ts';
import type { EdgeUpstreams } from '@shop/kit/live-upstreams.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { untraced } from '@shop/kit/tracing.ts';

const RENEW_EVERY_MS = 1_000;
/** Longer than this without a renewal, and the database was unavailable, or slow. */
const RENEWED_LATELY_MS = 2 * RENEW_EVERY_MS;
/** By then an instance that lost the database at the same time has renewed its lease: its current attempt, a pause, another. */
const STEADY_MS = 3_000;
/** Limits of a renewal, in ms: one that fails is soon followed by another. */
const RENEWAL = { connectTimeoutMs: 1_000, statementTimeoutMs: 1_000 } as const;
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
 * This process's lease over the sagas it runs: one row renewed by the database's clock, whatever the number of sagas.
 * It ends with the process. A process that was paused past it finds its sagas adopted, and its saves refused.
 */
export interface Ownership extends AsyncDisposable {
  readonly id: string;
  /** Resolves once the lease holds: an order inserted without one would be adopted immediately. Rejects with DatabaseUnavailableError. */
  ensure(): Promise<void>;
  /**
   * True while the lease holds and has been renewed without a gap for 3 s. After an outage of the database all leases have
   * run out, those of living instances too: an instance that adopted immediately would take the orders that they run.
   */
  mayAdopt(): boolean;
}

/** An ownership with a dedicated connection: a pool that is in use to the last connection must not cost the lease. */
export function openOwnership(options: {
  url: string;
  upstreams?: EdgeUpstreams;
  instance: string;
  logger: Logger;
}): Ownership {
  const { instance, logger } = options;
  const own = { poolSize: 1, purpose: 'lease', applicationName: `${instance} lease` };
  const database = openDatabase({ ...options, ...own, ...RENEWAL });
  const ownership = createOwnership({ database, instance, logger });
  return {
    ...ownership,
    async [Symbol.asyncDispose]() {
      await ownership[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

export function createOwnership(options: { database: Database; instance: string; logger: Logger }): Ownership {
  const { database, instance, logger } = options;
  const id = randomUUID();
  /** When the lease was last requested, on the monotonic clock; the database's lease ends later than this and LEASE_MS. */
  let renewedAt = Number.NEGATIVE_INFINITY;
  /** Since when renewals have come without a gap. */
  let steadySince = Number.POSITIVE_INFINITY;
  let renewing: Promise<void> | undefined;

  async function renew(): Promise<void> {
    const askedAt = performance.now();
    await untraced(() => database.query(renewLease, [id, instance, LEASE_MS]));
    const first = renewedAt === Number.NEGATIVE_INFINITY;
    if (askedAt - renewedAt > RENEWED_LATELY_MS) steadySince = performance.now();
    renewedAt = askedAt;
    if (first) await removeOld();
  }

  /** Its failure is not that of the lease, which holds. */
  async function removeOld(): Promise<void> {
    await untraced(() => database.query(deleteOld, [])).catch((error: unknown) =>
      logger.debug({ reason: messageOf(error) }, 'old leases were not deleted'),
    );
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
    mayAdopt() {
      const now = performance.now();
      return now - renewedAt <= RENEWED_LATELY_MS && now - steadySince >= STEADY_MS;
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
