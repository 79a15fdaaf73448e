import type { Database } from '@shop/kit/database.ts';
import type { EdgeLimits } from '@shop/kit/edges.ts';
import type { HttpClient } from '@shop/kit/http-client.ts';
import type { HttpReplica } from '@shop/kit/http-replica.ts';
import type { PlantName } from '@shop/kit/plants.ts';
import type { CallPolicy } from '@shop/kit/resilience.ts';
import type { Catalog } from '../catalog-client.ts';
import { createOrderMetrics, type OrderGauges, type OrderMetrics } from '../metrics.ts';
import type { Publisher } from '../publisher.ts';
import { countingDeclined } from './breaker-counts-402.ts';
import { crashingInRecovery } from './crash-in-recovery.ts';
import { nothingPending, recordingSeconds } from './metrics.ts';
import { pricingInHryvnias } from './price-in-hryvnias.ts';
import { publishingInRequest } from './publish-in-request.ts';
import { retryingDeclined } from './retry-declined.ts';

export interface PlantingOptions {
  /** Where bugs keep what they must remember beyond their process; set whenever there are any. */
  readonly folder: string | undefined;
  /** Ends this process as an error that nobody caught does. */
  readonly crash?: () => void;
}

/** The parts of orders into which bugs can be put back; without a bug each is what it is given. */
export function createPlanting(
  plants: ReadonlySet<PlantName>,
  { folder, crash = () => process.kill(process.pid, 'SIGKILL') }: PlantingOptions,
) {
  return {
    database(database: Database, publisher: Publisher): Database {
      if (plants.has('publish-in-request')) return publishingInRequest(database, publisher);
      return plants.has('crash-in-recovery') && folder !== undefined
        ? crashingInRecovery(database, folder, crash)
        : database;
    },
    limits: (limits: EdgeLimits): EdgeLimits => (plants.has('no-retries') ? { ...limits, attempts: 1 } : limits),
    paymentsClient: (client: HttpClient): HttpClient =>
      plants.has('retry-declined') ? retryingDeclined(client) : client,
    paymentsPolicy: (policy: CallPolicy<HttpReplica>): CallPolicy<HttpReplica> =>
      plants.has('breaker-counts-402') ? countingDeclined(policy) : policy,
    catalog: (catalog: Catalog): Catalog => (plants.has('price-in-hryvnias') ? pricingInHryvnias(catalog) : catalog),
    metrics(gauges: OrderGauges): OrderMetrics {
      const metrics = createOrderMetrics(plants.has('gauge-always-zero') ? nothingPending(gauges) : gauges);
      return plants.has('duration-in-seconds') ? recordingSeconds(metrics) : metrics;
    },
    isMandatory: plants.has('mandatory-unbound'),
  };
}
