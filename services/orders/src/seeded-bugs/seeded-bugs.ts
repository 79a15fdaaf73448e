import type { Database } from '@shop/kit/database.ts';
import type { EdgeLimits } from '@shop/kit/edges.ts';
import type { HttpClient } from '@shop/kit/http-client.ts';
import type { HttpReplica } from '@shop/kit/http-replica.ts';
import type { CallPolicy } from '@shop/kit/resilience.ts';
import type { SeededBugName } from '@shop/kit/seeded-bug-names.ts';
import type { Catalog } from '../catalog-client.ts';
import { createOrderMetrics, type OrderGauges, type OrderMetrics } from '../metrics.ts';
import type { Parts } from '../parts.ts';
import type { Publisher } from '../publisher.ts';
import { countingDeclined } from './breaker-counts-402.ts';
import { crashingInRecovery } from './crash-in-recovery.ts';
import { nothingPending, recordingSeconds } from './metrics.ts';
import { pausingAfterDeclined } from './pause-after-402.ts';
import { pricingInHryvnias } from './price-in-hryvnias.ts';
import { publishingInRequest } from './publish-in-request.ts';
import { retryingDeclined } from './retry-declined.ts';
import { slowWhileOn } from './slow-flag.ts';

export interface SeededBugsOptions {
  /** Where bugs keep what they must remember beyond their process; set whenever there are any. */
  readonly folder: string | undefined;
  /** Ends this process as an uncaught error does. */
  readonly crash?: () => void;
}

/** The parts of orders with the seeded bugs in them; without a bug each is what it is given. */
export function createSeededBugs(
  seededBugs: ReadonlySet<SeededBugName>,
  { folder, crash = () => process.kill(process.pid, 'SIGKILL') }: SeededBugsOptions,
): Parts {
  return {
    database(database: Database, publisher: Publisher): Database {
      if (seededBugs.has('publish-in-request')) return publishingInRequest(database, publisher);
      return seededBugs.has('crash-in-recovery') && folder !== undefined
        ? crashingInRecovery(database, folder, crash)
        : database;
    },
    limits: (limits: EdgeLimits): EdgeLimits => (seededBugs.has('no-retries') ? { ...limits, attempts: 1 } : limits),
    paymentsClient: (client: HttpClient): HttpClient =>
      seededBugs.has('retry-declined') ? retryingDeclined(client) : client,
    paymentsPolicy(policy: CallPolicy<HttpReplica>): CallPolicy<HttpReplica> {
      const counting = seededBugs.has('breaker-counts-402') ? countingDeclined(policy) : policy;
      return seededBugs.has('pause-after-402') ? pausingAfterDeclined(counting) : counting;
    },
    catalog: (catalog: Catalog): Catalog =>
      seededBugs.has('price-in-hryvnias') ? pricingInHryvnias(catalog) : catalog,
    metrics(gauges: OrderGauges): OrderMetrics {
      const metrics = createOrderMetrics(seededBugs.has('gauge-always-zero') ? nothingPending(gauges) : gauges);
      return seededBugs.has('duration-in-seconds') ? recordingSeconds(metrics) : metrics;
    },
    flags: (flags) => (seededBugs.has('slow-flag') ? slowWhileOn(flags) : flags),
    isMandatory: seededBugs.has('mandatory-unbound'),
  };
}
