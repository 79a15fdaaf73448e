import type { Profile } from '../../cli/src/slo/profiles.ts';
import { fires, gauge, type Scenario, type ScenarioFile, series, silent } from '../scenario.ts';
import { orders, supervisor } from './inputs.ts';

export interface Gauge {
  readonly alert: string;
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly below: number;
  readonly above: number;
  readonly holdsForS?: number;
  /** Labels of the alert, beside those of its rule. */
  readonly fires?: Readonly<Record<string, string>>;
  readonly more?: readonly Scenario[];
}

/** A value that is just below, then just above for as long as it must last, then back, then above again. */
export function gaugeFile(
  { alert, metric, labels, below, above, holdsForS = 0, fires: kept, more = [] }: Gauge,
  stepS: number,
  keepS: number,
): ScenarioFile {
  const hold = Math.ceil(holdsForS / stepS);
  const [low, high, after] = [hold + 3, hold + 3, Math.ceil(keepS / stepS) + 3];
  const at = (steps: number) => steps * stepS;
  return {
    name: alert,
    alert,
    stepS,
    scenarios: [
      {
        name: `${metric} goes above its limit and back`,
        series: [series(metric, labels, gauge([low, below], [high, above], [after, below], [after, above]))],
        expect: [
          silent(at(low - 1), 'just below'),
          ...(hold > 1 ? [silent(at(low + hold - 1), 'above, but not for long enough')] : []),
          fires(at(low + hold), 'above for long enough', kept),
          silent(at(low + high + after - 1), 'resolved'),
          fires(at(low + high + 2 * after - 1), 'above again', kept),
        ],
      },
      ...more,
      { name: 'no data', series: [], expect: [silent(at(2), 'nothing is reported')] },
    ],
  };
}

export function gaugeFiles(profile: Profile, keepS: number): readonly ScenarioFile[] {
  const holdsForS = profile.hasSupervisor ? 5 : 30;
  const stepS = profile.scrapeMs / 1_000;
  const gauges: readonly Gauge[] = [
    {
      alert: 'OutboxStalled',
      metric: 'shop_outbox_oldest_age_seconds',
      labels: orders,
      below: 9.5,
      above: 11,
      holdsForS,
    },
    {
      alert: 'CompensationsStuck',
      metric: 'shop_compensations_oldest_age_seconds',
      labels: orders,
      below: 29,
      above: 31,
      holdsForS,
    },
    {
      alert: 'SagasStuck',
      metric: 'shop_sagas_open_oldest_age_seconds',
      labels: orders,
      below: 19,
      above: 21,
      holdsForS,
    },
    {
      alert: 'BreakerOpen',
      metric: 'shop_breaker_state',
      labels: { ...orders, edge: 'orders-stock' },
      below: 1,
      above: 2,
      fires: { job: 'orders', edge: 'orders-stock' },
    },
    ...(profile.hasSupervisor
      ? [
          {
            alert: 'MoneyOrStockMismatch',
            metric: 'shop_audit_violations',
            labels: { ...supervisor, invariant: 'I4', kind: 'lost' },
            below: 0,
            above: 1,
            fires: { invariant: 'I4' },
            more: [lostShipments, wrongShipments],
          },
        ]
      : []),
  ];
  return gauges.map((one) => gaugeFile(one, stepS, keepS));
}

const violations = (kind: string, value: number) =>
  series('shop_audit_violations', { ...supervisor, invariant: 'I7', kind }, gauge([10, value]));

const lostShipments: Scenario = {
  name: 'shipments are not there yet',
  series: [violations('lost', 40), violations('duplicated', 0)],
  expect: [silent(8, 'other alerts are about them')],
};

const wrongShipments: Scenario = {
  name: 'an order is shipped twice, while others are not shipped yet',
  series: [violations('lost', 40), violations('duplicated', 1)],
  expect: [fires(8, 'two parcels left', { invariant: 'I7' })],
};
