import type { Profile } from '../../cli/src/slo/profiles.ts';
import { settledIn } from '../rules.ts';
import type { Alert } from './alert.ts';

/**
 * Ages are high for a moment after a machine was suspended, so they have to last. Longer in a cluster, where they are
 * scraped every 15 s.
 */
export function gaugePages({ hasSupervisor }: Profile): readonly Alert[] {
  const holdsFor = hasSupervisor ? '5s' : '30s';
  return [
    {
      name: 'OutboxStalled',
      severity: 'page',
      expr: 'max(shop_outbox_oldest_age_seconds) > 10',
      holdsFor,
      summary: 'Events wait in the outbox and are not published',
      impact: 'Customers with a confirmed order get no shipment until the relay publishes again',
      dashboard: 'messaging',
      slo: 'queue-age',
    },
    {
      name: 'CompensationsStuck',
      severity: 'page',
      expr: 'max(shop_compensations_oldest_age_seconds) > 30',
      holdsFor,
      summary: 'A cancelled order has waited for its compensations for more than 30 s',
      impact: 'A customer has paid for a cancelled order, or its stock is withheld from others',
      dashboard: 'orders',
      slo: 'orders-availability',
    },
    {
      name: 'SagasStuck',
      severity: 'page',
      expr: 'max(shop_sagas_open_oldest_age_seconds) > 20',
      holdsFor,
      summary: 'An order has had no result for more than 20 s',
      impact: 'A customer does not know whether the order was accepted: its status stays 202',
      dashboard: 'orders',
      slo: 'orders-availability',
    },
  ];
}

/** What only a supervisor measures (meter `Shop.Platform`). */
export const supervisorPages: readonly Alert[] = [
  {
    name: 'QueueNotDraining',
    severity: 'page',
    // Messages in the queue, or few enough to be in the hands of a consumer: then the queue is empty, and as if they were lost.
    expr: [
      'shop:queue_stalled == 1',
      'or (min_over_time(shop:shipments_missing[10s]) > 3 + shop:counts_apart',
      'and count_over_time(shop:shipments_missing[20s]) >= 16',
      `and ${settledIn('20s')} == 0)`,
    ].join('\n'),
    summary: 'Messages wait for shipping, in its queue or in its hands, and none is settled',
    impact: 'Customers with a confirmed order get no shipment until shipping consumes again',
    dashboard: 'messaging',
    slo: 'queue-age',
  },
  {
    name: 'ShipmentsMissing',
    severity: 'page',
    // A few orders may be on their way. Messages of a stalled consumer are late, not lost.
    expr: [
      'shop:shipments_missing > 3 + (shop:counts_apart > shop:messages_held or shop:messages_held)',
      'unless shop:queue_stalled == 1',
    ].join('\n'),
    holdsFor: '15s',
    summary: 'Orders were confirmed that are neither shipped nor waiting to be',
    impact: 'Customers with a confirmed order never get a shipment, unless their events are published again',
    dashboard: 'messaging',
    slo: 'shipments-freshness',
  },
  {
    name: 'ProbesFailing',
    severity: 'page',
    expr: 'sum(count_over_time(shop_probe_success[5s]) - sum_over_time(shop_probe_success[5s])) >= 3',
    summary: 'Three of the last five probes through the gateway failed',
    impact: 'Customers get no response, or an error, whatever they ask for',
    dashboard: 'overview',
    slo: 'orders-availability',
  },
  {
    name: 'MoneyOrStockMismatch',
    severity: 'page',
    // A shipment that is not there yet may wait in a queue: it is late, or missing, and both have other alerts.
    expr: 'max by (invariant) (shop_audit_violations{invariant!="I7"} or shop_audit_violations{kind!="lost"}) > 0',
    summary: 'The audit of recent orders found a violation',
    impact:
      'A customer was charged twice or not at all, got two parcels or a wrong one, or stock was sold that is not there',
    dashboard: 'orders',
    slo: 'none',
  },
];
