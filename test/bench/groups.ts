import type { Bench } from './bench.ts';
import { measureOrders } from './rows/orders.ts';
import { measureProxies } from './rows/proxies.ts';
import { measureTracing } from './rows/tracing.ts';
import type { Section } from './section.ts';

/** A group of rows that are measured together, cases alternating. */
export interface Group {
  readonly key: string;
  readonly title: string;
  run(bench: Bench): Promise<Section>;
}

export const groups: readonly Group[] = [
  { key: 'a', title: 'Orders, against the SQL floor and the empty chain', run: measureOrders },
  { key: 'b', title: 'Tracing on and off', run: measureTracing },
  { key: 'c', title: 'With proxies and wired directly', run: measureProxies },
];
