import type { Profile } from '../cli/src/slo/profiles.ts';
import { windowIn } from '../cli/src/slo/series.ts';
import { windowS } from '../cli/src/slo/window.ts';
import {
  counter,
  fires,
  gauge,
  type InputSeries,
  type Phase,
  type Scenario,
  type ScenarioFile,
  series,
  silent,
} from './scenario.ts';

/** The cases of the alerts that are not burn rates: each fires, is just below, resolves, and has no data. */
export function scenariosOf(profile: Profile, keepS: number): readonly ScenarioFile[] {
  return [
    ...gaugeFiles(profile, keepS),
    ...(profile.hasSupervisor
      ? [queueNotDraining(keepS), ...shipmentsMissing(keepS), frontDoorDown(keepS), deadLetters(keepS)]
      : [deadLettersCounted(keepS)]),
    failingAtLowTraffic(profile, keepS),
    telemetryLost(profile, keepS),
    budgetSpent(profile, keepS),
    instanceRestarting(profile, keepS),
    retriesHigh(profile, keepS),
    connectionsHigh(profile, keepS),
    deployInProgress(profile, keepS),
    watchdog(profile),
  ];
}

const orders = { instance: 'orders-1', job: 'orders' };
const shipping = { instance: 'shipping-1', job: 'shipping' };
const supervisor = { instance: 'supervisor', job: 'shopctl' };
const QUEUE = 'shipping.order-confirmed';

const queue = (values: string, name = QUEUE) => series('shop_queue_messages', { ...supervisor, queue: name }, values);
const outcome = (name: string, values: string) =>
  series('shop_orders_outcomes_total', { ...orders, outcome: name }, values);
const delivery = (name: string, values: string) =>
  series('shop_shipping_messages_total', { ...shipping, outcome: name }, values);
const posts = (status: string, values: string) =>
  series(
    'http_server_request_duration_seconds_count',
    { instance: 'gateway-1', job: 'gateway', http_request_method: 'POST', http_response_status_code: status },
    values,
  );

interface Gauge {
  readonly alert: string;
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly below: number;
  readonly above: number;
  readonly holdsForS?: number;
  /** Labels of the alert, beside those of its rule. */
  readonly fires?: Readonly<Record<string, string>>;
}

/** A value that is just below, then just above for as long as it must last, then back, then gone. */
function gaugeFile(
  { alert, metric, labels, below, above, holdsForS = 0, fires: kept }: Gauge,
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
        series: [
          series(metric, labels, gauge([low, below], [high, above], [after, below], [after, above], [after + 25, '_'])),
        ],
        expect: [
          silent(at(low - 1), 'just below'),
          ...(hold > 1 ? [silent(at(low + hold - 1), 'above, but not for long enough')] : []),
          fires(at(low + hold), 'above for long enough', kept),
          silent(at(low + high + after - 1), 'resolved'),
          fires(at(low + high + 2 * after - 1), 'above again', kept),
        ],
      },
      { name: 'no data', series: [], expect: [silent(at(2), 'nothing is reported')] },
    ],
  };
}

function gaugeFiles(profile: Profile, keepS: number): readonly ScenarioFile[] {
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
            labels: { ...supervisor, invariant: 'I4' },
            below: 0,
            above: 1,
            fires: { invariant: 'I4' },
          },
        ]
      : []),
  ];
  return gauges.map((one) => gaugeFile(one, stepS, keepS));
}

function queueNotDraining(keepS: number): ScenarioFile {
  return {
    name: 'QueueNotDraining',
    alert: 'QueueNotDraining',
    stepS: 1,
    scenarios: [
      {
        name: 'shipping settles one message in 7 s, then none, then all',
        series: [
          queue(gauge([2, 0], [45, 5], [keepS + 5, 0])),
          delivery('shipped', counter([7, 0], [1, 1], [6, 0], [1, 1], [6, 0], [1, 1], [22, 0], [keepS + 5, 2])),
          delivery('retried', counter([60, 1])),
        ],
        expect: [
          silent(20, 'slow, but draining'),
          silent(28, 'the last message was settled 6 s ago'),
          fires(34, 'none for more than 10 s'),
          silent(52 + keepS, 'resolved'),
        ],
      },
      {
        name: 'messages come to a queue without a consumer',
        series: [queue(gauge([15, 0], [16, 1]))],
        expect: [silent(22, 'they wait for 7 s'), fires(27, 'they wait for 12 s')],
      },
      {
        name: 'the queue was not seen for 8 s',
        series: [queue(gauge([9, 0], [8, '_'], [5, 5]))],
        expect: [silent(21, 'it is seen for 5 of 10 s')],
      },
      { name: 'no data', series: [], expect: [silent(12, 'nothing is reported')] },
    ],
  };
}

function shipmentsMissing(keepS: number): readonly ScenarioFile[] {
  const pending = (values = '0x100') => [
    series('shop_outbox_pending', orders, values),
    queue(values.replaceAll(/[1-9]\d*x/g, '0x')),
    queue('0x100', `${QUEUE}.retries`),
  ];
  const steady = { orders: 50, loss: 28, more: 22 };
  return [
    {
      name: 'ShipmentsMissing',
      alert: 'ShipmentsMissing',
      stepS: 5,
      scenarios: [
        {
          name: '10 orders a second; 28 shipments of two minutes are missing, then 50',
          series: [
            outcome('confirmed', counter([90, steady.orders])),
            delivery(
              'shipped',
              counter(
                [40, steady.orders],
                [1, steady.orders - steady.loss],
                [11, steady.orders],
                [1, steady.orders - steady.more],
                [37, steady.orders],
              ),
            ),
            ...pending(),
          ],
          expect: [
            silent(195, 'each confirmed order is shipped'),
            silent(255, 'fewer than 3 and 2.5 % of the orders of two minutes'),
            silent(270, 'more than that, but not for 15 s'),
            fires(280, 'more than that for 15 s'),
            silent(265 + 130 + keepS, 'resolved: the losses are older than two minutes'),
          ],
        },
        {
          name: 'few orders; the fourth and fifth are lost',
          series: [
            outcome('confirmed', counter([2, 2], [18, 0.2])),
            delivery('shipped', counter([2, 1], [8, 0], [10, 0])),
            ...pending(),
          ],
          expect: [silent(50, 'up to three are not enough'), fires(95, 'more than three are')],
        },
        {
          name: 'orders wait in the outbox and in the queue for retries',
          series: [
            outcome('confirmed', counter([20, 2])),
            series('shop_outbox_pending', orders, '0+1x20'),
            queue('0x20'),
            queue('0+1x20', `${QUEUE}.retries`),
          ],
          expect: [silent(95, 'nothing is shipped, and nothing is lost')],
        },
        { name: 'no data', series: [], expect: [silent(30, 'nothing is reported')] },
      ],
    },
    {
      name: 'ShipmentsMissing-stalled',
      alert: 'ShipmentsMissing',
      stepS: 1,
      scenarios: [
        {
          name: 'a consumer holds messages and settles none, then ends without them',
          series: [
            outcome('confirmed', counter([60, 2])),
            ...pending().slice(0, 1),
            queue(gauge([2, 0], [40, 1], [20, 0])),
          ],
          expect: [
            silent(40, 'they are late: QueueNotDraining is about that'),
            fires(60, 'none waits any more, and none was shipped'),
          ],
        },
      ],
    },
  ];
}

function frontDoorDown(keepS: number): ScenarioFile {
  return {
    name: 'FrontDoorDown',
    alert: 'FrontDoorDown',
    stepS: 1,
    scenarios: [
      {
        name: 'two probes fail, then three',
        series: [series('shop_probe_success', supervisor, gauge([8, 1], [2, 0], [8, 1], [3, 0], [8 + keepS, 1]))],
        expect: [
          silent(7, 'all succeed'),
          silent(9, 'two failed'),
          fires(20, 'three of five failed'),
          silent(28 + keepS, 'resolved'),
        ],
      },
      { name: 'no data', series: [], expect: [silent(6, 'there is no probe')] },
    ],
  };
}

function deadLetters(keepS: number): ScenarioFile {
  const gone: Gauge = {
    alert: 'DeadLetters',
    metric: 'shop_queue_messages',
    labels: { ...supervisor, queue: 'shipping.dead-letters' },
    below: 0,
    above: 1,
  };
  return gaugeFile(gone, 1, keepS);
}

function deadLettersCounted(keepS: number): ScenarioFile {
  const after = Math.ceil((900 + keepS) / 60) + 2;
  return {
    name: 'DeadLetters',
    alert: 'DeadLetters',
    stepS: 60,
    scenarios: [
      {
        name: 'one message is refused for good',
        series: [
          delivery('dead_lettered', counter([5, 0], [1, 1], [after, 0])),
          delivery('shipped', counter([after, 9])),
        ],
        expect: [
          silent(300, 'all are shipped'),
          fires(420, 'one is not'),
          fires(1080, 'that was 12 minutes ago'),
          silent((6 + after) * 60, 'resolved: that was longer ago'),
        ],
      },
      { name: 'no data', series: [], expect: [silent(120, 'nothing is reported')] },
    ],
  };
}

/** `B` a bad order, `G` a good one, `.` none; each stands for a step. */
function ordersByStep(text: string): readonly InputSeries[] {
  const phases = (kinds: string): readonly Phase[] => [...text].map((one): Phase => [1, kinds.includes(one) ? 1 : 0]);
  return [
    posts('201', counter(...phases('G'))),
    posts('200', counter(...phases('B'))),
    outcome('payment_unavailable', counter(...phases('B'))),
    outcome('declined', counter(...phases('G'))),
  ];
}

function failingAtLowTraffic(profile: Profile, keepS: number): ScenarioFile {
  const stepS = 20;
  const keep = '.'.repeat(Math.ceil(keepS / stepS) + 1);
  const low = windowS(windowIn(profile, '1h')) / stepS;
  const end = (text: string) => text.length * stepS;
  const closely = '..........G......B.B.B';
  const loosely = '..........G................B....B....B';
  const rarely = `..........G${'.'.repeat(20)}B..........B..........B`;
  const twoBad = `.....B..B${'.'.repeat(3)}`;
  const between = '...B..B..G..B..B';
  const cases: readonly (readonly [name: string, text: string, firing: boolean])[] = [
    ['three in two minutes, after a good one', closely, true],
    ['three in five minutes, after a good one', loosely, true],
    ['three in ten minutes, after a good one', rarely, true],
    ['two', twoBad, false],
    ['four, with a good one between', between, false],
    ['no order at all', '.'.repeat(30), false],
  ];
  const many = (perWindow: number) => [
    posts('503', counter([10, 0], [low + 10, perWindow / low])),
    posts('201', counter([low + 20, 0])),
  ];
  return {
    name: 'OrdersFailingAtLowTraffic',
    alert: 'OrdersFailingAtLowTraffic',
    stepS,
    scenarios: [
      ...cases.map(
        ([name, text, firing]): Scenario => ({
          name,
          series: ordersByStep(text),
          expect: [
            firing ? fires(end(text), 'they failed in a row') : silent(end(text), 'that is not a row of failures'),
          ],
        }),
      ),
      {
        name: 'resolved by a good one',
        series: ordersByStep(`${closely}G${keep}`),
        expect: [silent(end(`${closely}G${keep}`), 'the last one was good')],
      },
      {
        name: '19 in the window of the fast burn, all bad',
        series: many(19),
        expect: [fires((low + 20) * stepS, 'too few for a burn rate')],
      },
      {
        name: '30 in the window of the fast burn, all bad',
        series: many(30),
        expect: [silent((low + 20) * stepS, 'enough for a burn rate')],
      },
      { name: 'no data', series: [], expect: [silent(60, 'nothing is reported')] },
    ],
  };
}

function telemetryLost({ hasSupervisor }: Profile, keepS: number): ScenarioFile {
  const stepS = hasSupervisor ? 5 : 30;
  const [dropped, recently] = hasSupervisor ? [60, 120] : [600, 900];
  const steps = (seconds: number) => Math.ceil(seconds / stepS);
  const spans = (state: string, values: string) => series('shop_telemetry_spans_total', { ...shipping, state }, values);
  const [shown, gone] = [steps(60), steps(recently + keepS) + 3];
  const away = (shown + steps(recently * 0.75)) * stepS;
  return {
    name: 'TelemetryLost',
    alert: 'TelemetryLost',
    stepS,
    scenarios: [
      {
        name: 'a span is dropped',
        series: [
          spans('dropped', counter([3, 0], [1, 1], [gone + steps(dropped), 0])),
          spans('started', counter([gone + 2 * steps(dropped), 5])),
        ],
        expect: [
          silent(3 * stepS, 'none is dropped'),
          fires(3 * stepS + dropped * 0.75, 'one was dropped', { job: 'shipping' }),
          silent(5 * stepS + dropped + keepS + 2 * stepS, 'resolved'),
        ],
      },
      {
        name: 'a service stops reporting',
        series: [spans('started', `${counter([shown, 5])} stale ${'_'.concat(`x${gone}`)}`)],
        expect: [
          silent(shown * stepS, 'it reports'),
          fires(away, 'it does not', { job: 'shipping' }),
          silent((shown + gone) * stepS, 'after a while that is its state'),
        ],
      },
      {
        name: 'a service ends in order',
        series: [
          spans('started', `${counter([shown, 5])} stale _x${gone}`),
          series('shop_telemetry_closed', shipping, `_x${shown} 1 stale _x${gone}`),
        ],
        expect: [silent(away, 'its last report said so')],
      },
      { name: 'no data', series: [], expect: [silent(2 * stepS, 'nothing is reported')] },
    ],
  };
}

function budgetSpent(profile: Profile, keepS: number): ScenarioFile {
  const stepS = profile.scrapeMs / 1_000;
  const shortest = windowS(windowIn(profile, '5m')) / stepS;
  const labels = { slo: 'orders-availability' };
  const budget = profile.hasSupervisor ? 0.005 : 0.001;
  const window = (requests: number, bad: number): readonly InputSeries[] => {
    const [good, failed] = [(requests - bad) / 10, bad / 10];
    return [
      posts('201', counter([10, good], [2 * shortest, 0])),
      posts('503', counter([10, failed], [2 * shortest, 0])),
    ];
  };
  const at = (10 + 2 * shortest) * stepS;
  const many = 1_000 / budget / 100;
  return {
    name: 'ErrorBudgetSpent',
    alert: 'ErrorBudgetSpent',
    slo: labels.slo,
    stepS,
    scenarios: [
      {
        name: 'nine tenths of the budget',
        series: window(many, many * budget * 0.9),
        expect: [silent(at, 'a tenth is left')],
      },
      {
        name: 'more than the budget',
        series: window(many, many * budget * 1.1),
        expect: [fires(at, 'nothing is left', labels)],
      },
      { name: 'four bad requests of 26', series: window(26, 4), expect: [fires(at, 'few, but enough', labels)] },
      { name: 'two bad requests of 26', series: window(26, 2), expect: [silent(at, 'too few bad ones')] },
      { name: 'all of 15 requests', series: window(15, 15), expect: [silent(at, 'too few requests')] },
      {
        name: 'many good ones after it',
        series: [
          posts(
            '201',
            counter([10, 100], [shortest, 0], [20 + Math.ceil(keepS / stepS) + shortest, 2_000 / budget / 100]),
          ),
          posts('503', counter([10, 1], [shortest + 20 + Math.ceil(keepS / stepS) + shortest, 0])),
        ],
        expect: [
          fires((10 + shortest) * stepS, 'nothing is left', labels),
          silent((30 + Math.ceil(keepS / stepS) + 2 * shortest) * stepS, 'resolved: the share is small again'),
        ],
      },
      { name: 'no data', series: [], expect: [silent(2 * stepS, 'nothing is reported')] },
    ],
  };
}

function instanceRestarting({ hasSupervisor }: Profile, keepS: number): ScenarioFile {
  const stepS = hasSupervisor ? 5 : 30;
  const windowSeconds = hasSupervisor ? 60 : 300;
  const steps = Math.ceil((windowSeconds + keepS) / stepS) + 3;
  return {
    name: 'InstanceRestarting',
    alert: 'InstanceRestarting',
    stepS,
    scenarios: [
      {
        name: 'a counter begins again',
        series: [
          series('shop_telemetry_spans_total', { ...orders, state: 'started' }, `${counter([10, 5])} 1+5x${steps}`),
          series('shop_telemetry_spans_total', { ...shipping, state: 'started' }, `0+5x${10 + steps}`),
        ],
        expect: [
          silent(10 * stepS, 'it only rises'),
          fires(11 * stepS + windowSeconds * 0.75, 'it was reset', orders),
          silent((11 + steps) * stepS, 'resolved: that is long ago'),
        ],
      },
      { name: 'no data', series: [], expect: [silent(2 * stepS, 'nothing is reported')] },
    ],
  };
}

function retriesHigh({ hasSupervisor }: Profile, keepS: number): ScenarioFile {
  const stepS = hasSupervisor ? 5 : 30;
  const window = (hasSupervisor ? 60 : 300) / stepS;
  const after = window + Math.ceil(keepS / stepS) + 2;
  const retries = (values: string) => series('shop_call_retries_total', { ...orders, edge: 'orders-stock' }, values);
  const edge = { edge: 'orders-stock' };
  const at = (steps: number) => steps * stepS;
  return {
    name: 'RetriesHigh',
    alert: 'RetriesHigh',
    stepS,
    scenarios: [
      {
        name: 'a share just below, just above, and none',
        series: [
          posts('201', counter([4 * window + after, 50])),
          retries(counter([2 * window + 2, 4], [2 * window, 6], [after, 0])),
        ],
        expect: [
          silent(at(2 * window + 2), '8 % of the orders'),
          fires(at(4 * window + 2), '12 % of the orders', edge),
          silent(at(4 * window + 2 + after), 'resolved'),
        ],
      },
      {
        name: 'two retries in the window, and few orders',
        series: [posts('201', counter([3 * window, 10 / window])), retries(counter([3 * window, 2 / window]))],
        expect: [silent(at(3 * window), 'too few to say anything')],
      },
      {
        name: 'four retries in the window, and few orders',
        series: [posts('201', counter([3 * window, 10 / window])), retries(counter([3 * window, 4 / window]))],
        expect: [fires(at(3 * window), 'enough', edge)],
      },
      { name: 'no data', series: [], expect: [silent(at(2), 'nothing is reported')] },
    ],
  };
}

function connectionsHigh({ hasSupervisor }: Profile, keepS: number): ScenarioFile {
  const stepS = hasSupervisor ? 1 : 15;
  const window = hasSupervisor ? 10 : 4;
  const pool = '127.0.0.1:5432/orders';
  const after = Math.ceil(keepS / stepS) + 3;
  const kept = { job: 'orders', db_client_connection_pool_name: pool };
  return {
    name: 'DatabaseConnectionsHigh',
    alert: 'DatabaseConnectionsHigh',
    stepS,
    scenarios: [
      {
        name: 'callers wait now and then, then all the time',
        series: [
          series(
            'db_client_connection_pending_requests',
            { ...orders, db_client_connection_pool_name: pool },
            gauge([window + 3, 0], [window - 2, 3], [1, 0], [window + 3, 2], [after + window, 0]),
          ),
        ],
        expect: [
          silent(2 * window * stepS, 'not during the whole window'),
          fires((3 * window + 4) * stepS, 'during the whole window', kept),
          silent((4 * window + 4 + after) * stepS, 'resolved'),
        ],
      },
      { name: 'no data', series: [], expect: [silent(2 * stepS, 'nothing is reported')] },
    ],
  };
}

function deployInProgress({ scrapeMs }: Profile, keepS: number): ScenarioFile {
  const stepS = scrapeMs / 1_000;
  const after = Math.ceil(keepS / stepS) + 3;
  const info = (instance: string, labels: Readonly<Record<string, string>>, values: string) =>
    series(
      'target_info',
      { instance, job: 'orders', service_version: '0.2.0', shop_track: 'stable', ...labels },
      values,
    );
  const second = `_x5 1x4 stale _x${after}`;
  const changed = (name: string, labels: Readonly<Record<string, string>>): Scenario => ({
    name,
    series: [
      info('orders-1', {}, `1x${10 + after}`),
      info('orders-2', {}, `1x${10 + after}`),
      info('orders-3', labels, second),
    ],
    expect: [
      silent(3 * stepS, 'all are the same'),
      fires(8 * stepS, 'one differs', { job: 'orders' }),
      silent((9 + after) * stepS, 'resolved: all are the same again'),
    ],
  });
  return {
    name: 'DeployInProgress',
    alert: 'DeployInProgress',
    stepS,
    scenarios: [
      changed('another version', { service_version: '0.3.0' }),
      changed('another track', { shop_track: 'canary' }),
      { name: 'no data', series: [], expect: [silent(2 * stepS, 'nothing is reported')] },
    ],
  };
}

function watchdog({ scrapeMs }: Profile): ScenarioFile {
  const stepS = scrapeMs / 1_000;
  return {
    name: 'Watchdog',
    alert: 'Watchdog',
    stepS,
    scenarios: [
      { name: 'no data', series: [], expect: [fires(0, 'it always does'), fires(3 * stepS, 'it always does')] },
    ],
  };
}
