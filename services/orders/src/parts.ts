import type { Database } from '@shop/kit/database.ts';
import type { EdgeLimits } from '@shop/kit/edges.ts';
import type { Flags } from '@shop/kit/flags.ts';
import type { HttpClient } from '@shop/kit/http-client.ts';
import type { HttpReplica } from '@shop/kit/http-replica.ts';
import type { CallPolicy } from '@shop/kit/resilience.ts';
import type { Catalog } from './catalog-client.ts';
import { createOrderMetrics, type OrderGauges, type OrderMetrics } from './metrics.ts';
import type { Publisher } from './publisher.ts';

/** The parts of orders that a harness build can wrap in a seeded bug. */
export interface Parts {
  database(database: Database, publisher: Publisher): Database;
  limits(limits: EdgeLimits): EdgeLimits;
  paymentsClient(client: HttpClient): HttpClient;
  paymentsPolicy(policy: CallPolicy<HttpReplica>): CallPolicy<HttpReplica>;
  catalog(catalog: Catalog): Catalog;
  metrics(gauges: OrderGauges): OrderMetrics;
  flags(flags: Pick<Flags, 'isOn'>): Pick<Flags, 'isOn'>;
  readonly isMandatory: boolean;
}

/** Each part as it is given. */
export const realParts: Parts = {
  database: (database) => database,
  limits: (limits) => limits,
  paymentsClient: (client) => client,
  paymentsPolicy: (policy) => policy,
  catalog: (catalog) => catalog,
  metrics: createOrderMetrics,
  flags: (flags) => flags,
  isMandatory: false,
};
