import type { Bench } from './bench.ts';
import { measureGrowth } from './rows/growth.ts';
import { measureOrders } from './rows/orders.ts';
import { measurePeers } from './rows/peers.ts';
import { measureProxies } from './rows/proxies.ts';
import { measureRecovery } from './rows/recovery.ts';
import { measureRelay } from './rows/relay.ts';
import { measureStart } from './rows/start.ts';
import { measureTracing } from './rows/tracing.ts';
import { measureVerify } from './rows/verify.ts';
import type { Section } from './section.ts';

/** A group of rows that are measured together, cases alternating. */
export interface Group {
  readonly key: string;
  readonly title: string;
  run(bench: Bench): Promise<Section>;
}

export const groups: readonly Group[] = [
  { key: 'a', title: 'Orders, against the SQL floor and the empty chain', run: measureOrders },
  { key: 'b', title: 'Tracing on and off, metrics on and off', run: measureTracing },
  { key: 'c', title: 'With proxies and wired directly', run: measureProxies },
  { key: 'd', title: 'Relay drain', run: measureRelay },
  { key: 'e', title: 'Recovery of interrupted sagas', run: measureRecovery },
  { key: 'f', title: 'Start', run: measureStart },
  { key: 'g', title: 'Verify', run: measureVerify },
  { key: 'h', title: 'Ten times the rows', run: measureGrowth },
  { key: 'i', title: 'The saga engine, DBOS Transact and Restate', run: measurePeers },
];
