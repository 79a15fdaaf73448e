import type { Profile } from '../cli/src/slo/profiles.ts';
import {
  ATTAINED,
  BUDGET_LEFT,
  badRate,
  badRatio,
  EVENTS,
  seriesOf,
  totalRate,
  windowIn,
} from '../cli/src/slo/series.ts';
import { type Burn, budgetOf, type Slo } from '../cli/src/slo/slo.ts';
import { windowS } from '../cli/src/slo/window.ts';
import type { PageId } from './model.ts';

/**
 * `page`: a customer notices, and a person must act now. `ticket`: a person must act, not now. `cause`: explains a page,
 * wakes up no one, and is hidden while there is one. `none`: the watchdog.
 */
export type Severity = 'page' | 'ticket' | 'cause' | 'none';

/** An alert in a profile. Labels and annotations hold no values, so that an alert is the same one as long as it fires. */
export interface Alert {
  readonly name: string;
  readonly severity: Severity;
  /** Beside `severity` and `slo`. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly expr: string;
  /** How long the condition must hold. Burn rates need none: their two windows are that. */
  readonly holdsFor?: string;
  readonly summary: string;
  /** Who notices what. */
  readonly impact: string;
  readonly dashboard: PageId;
  /** The SLO that it defends; none where no SLO counts it. */
  readonly slo: string | 'none';
}

/** Windows in which orders that fail one after the other are looked for, where there are few. */
export const LOW_TRAFFIC_WINDOWS = ['2m', '5m', '10m'] as const;

/** All alerts of a profile. Throws where an SLO that they need is not there. */
export function alertsOf(slos: readonly Slo[], profile: Profile): readonly Alert[] {
  const availability = slos.find(({ name }) => name === 'orders-availability');
  if (availability === undefined) throw new Error('there is no SLO orders-availability');
  return [
    ...slos.flatMap((slo) => burnAlerts(slo, profile)),
    ...gaugePages(profile),
    ...(profile.hasSupervisor ? supervisorPages : []),
    ...tickets(availability, profile),
    ...causes(profile),
    watchdog,
  ];
}

/** The dashboard that shows an SLO's alerts. */
const pageOfSlo: Readonly<Record<string, PageId>> = {
  'orders-availability': 'orders',
  'orders-latency': 'orders',
  'shipments-freshness': 'messaging',
  'queue-age': 'messaging',
};

function burnAlerts(slo: Slo, profile: Profile): readonly Alert[] {
  return slo.alerts.flatMap(({ name, summary, impact, burns }) =>
    burns.map(
      (burn): Alert => ({
        name,
        severity: burn.severity,
        labels: { burn: burn.name },
        expr: burnExpression(slo, burn, profile),
        summary,
        impact,
        dashboard: pageOfSlo[slo.name] ?? 'overview',
        slo: slo.name,
      }),
    ),
  );
}

/**
 * Both windows burn faster than the threshold. The long one says that it matters, the short one that it goes on. A few
 * requests do not say anything about a share.
 */
function burnExpression(slo: Slo, burn: Burn, profile: Profile): string {
  const [long, short] = [windowIn(profile, burn.long), windowIn(profile, burn.short)];
  const budget = budgetOf(slo, profile.name);
  const threshold = `(${burn.threshold} * ${budget})`;
  const { requests, bad } = profile.guard;
  return and(
    `${seriesOf(badRatio(long), slo)} > ${threshold}`,
    `${seriesOf(badRatio(short), slo)} > ${threshold}`,
    `round(${seriesOf(totalRate(long), slo)} * ${windowS(long)}) >= ${requests}`,
    // Where so few cannot be the share of so many, there is nothing to guard.
    ...(burn.threshold * budget * requests > bad - 1
      ? []
      : [`round(${seriesOf(badRate(long), slo)} * ${windowS(long)}) >= ${bad}`]),
  );
}

function and(...conditions: readonly string[]): string {
  return conditions.join('\nand ');
}

/**
 * Ages are high for a moment after a machine was suspended, so they have to last. Longer in a cluster, where they are
 * scraped every 15 s.
 */
function gaugePages({ hasSupervisor }: Profile): readonly Alert[] {
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
const supervisorPages: readonly Alert[] = [
  {
    name: 'QueueNotDraining',
    severity: 'page',
    expr: 'shop:queue_stalled == 1',
    summary: 'Messages wait in the queue of shipping, and none has been settled for 10 s',
    impact: 'Customers with a confirmed order get no shipment until shipping consumes again',
    dashboard: 'messaging',
    slo: 'queue-age',
  },
  {
    name: 'ShipmentsMissing',
    severity: 'page',
    // Confirmed, not shipped, and waiting nowhere. Processes report a second apart, and the counts of a process's last
    // second are lost when it is killed: that is 2.5 % of two minutes. Messages that a stalled consumer holds are late.
    expr: [
      'sum(increase(shop_orders_outcomes_total{outcome="confirmed"}[2m]))',
      '- (sum(increase(shop_shipping_messages_total{outcome="shipped"}[2m])) or vector(0))',
      '- max(shop_outbox_pending)',
      '- sum(shop_queue_messages{queue=~"shipping[.]order-confirmed.*"})',
      '> 3 + 0.025 * sum(increase(shop_orders_outcomes_total{outcome="confirmed"}[2m]))',
      'unless shop:queue_stalled == 1',
    ].join('\n'),
    holdsFor: '15s',
    summary: 'Orders were confirmed that are neither shipped nor waiting to be',
    impact: 'Customers with a confirmed order never get a shipment, unless their events are published again',
    dashboard: 'messaging',
    slo: 'shipments-freshness',
  },
  {
    name: 'FrontDoorDown',
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
    expr: 'max by (invariant) (shop_audit_violations) > 0',
    summary: 'The audit of recent orders found a violation',
    impact: 'A customer was charged or shipped to twice, or not at all, or stock was sold that is not there',
    dashboard: 'orders',
    slo: 'none',
  },
];

function tickets(availability: Slo, profile: Profile): readonly Alert[] {
  return [
    {
      name: 'OrdersFailingAtLowTraffic',
      severity: 'ticket',
      expr: lowTrafficExpression(availability, profile),
      summary: 'At least three orders in a row have failed, and there are too few for a burn rate',
      impact: 'The few customers who order now get an error or a cancelled order',
      dashboard: 'orders',
      slo: availability.name,
    },
    {
      name: 'DeadLetters',
      severity: 'ticket',
      expr: profile.hasSupervisor
        ? 'max(shop_queue_messages{queue="shipping.dead-letters"}) > 0'
        : 'sum(increase(shop_shipping_messages_total{outcome="dead_lettered"}[15m])) > 0',
      summary: 'Shipping has refused messages for good',
      impact: 'The orders of these messages are not shipped until an operator retries them',
      dashboard: 'messaging',
      slo: 'shipments-freshness',
    },
    {
      name: 'TelemetryLost',
      severity: 'ticket',
      expr: telemetryLostExpression(profile),
      summary: 'A service drops spans, or has stopped reporting without having ended in order',
      impact: 'Operators do not see what this service does; alerts on it may stay silent',
      dashboard: 'platform',
      slo: 'none',
    },
    {
      name: 'ErrorBudgetSpent',
      severity: 'ticket',
      expr: and(
        `${BUDGET_LEFT} <= 0`,
        `on (slo) round(${EVENTS}) >= ${profile.guard.requests}`,
        `on (slo) round(${EVENTS} * (1 - ${ATTAINED})) >= ${profile.guard.bad}`,
      ),
      summary: 'The error budget of an SLO is spent',
      impact: 'The promise of the time window is broken: changes that risk more errors should wait',
      dashboard: 'overview',
      // The label slo comes from the series.
      slo: 'none',
    },
  ];
}

/** Nothing good in the same window is between the failures, whatever was before it. */
function lowTrafficExpression(slo: Slo, profile: Profile): string {
  const { bad, requests } = profile.guard;
  const fast = windowIn(profile, '1h');
  const failing = LOW_TRAFFIC_WINDOWS.map((window) => {
    const [badOnes, total] = [seriesOf(badRate(window), slo), seriesOf(totalRate(window), slo)];
    const seconds = windowS(window);
    return `(round(${badOnes} * ${seconds}) >= ${bad} and round((${total} - ${badOnes}) * ${seconds}) <= 0)`;
  });
  return `(${failing.join('\nor ')})\nand round(${seriesOf(totalRate(fast), slo)} * ${windowS(fast)}) < ${requests}`;
}

/** A process that ended in order said so in its last report (`shop.telemetry.closed`). */
function telemetryLostExpression({ hasSupervisor }: Profile): string {
  const [dropped, recently] = hasSupervisor ? ['1m', '2m'] : ['10m', '15m'];
  const started = 'shop_telemetry_spans_total{state="started"}';
  return [
    `sum by (job) (increase(shop_telemetry_spans_total{state="dropped"}[${dropped}])) > 0`,
    `or (count by (job) (last_over_time(${started}[${recently}]))`,
    `unless on (job) count by (job) (${started})`,
    `unless on (job) count by (job) (last_over_time(shop_telemetry_closed[${recently}])))`,
  ].join('\n');
}

function causes(profile: Profile): readonly Alert[] {
  const window = profile.hasSupervisor ? '1m' : '5m';
  const waiting = profile.hasSupervisor ? '10s:1s' : '1m:15s';
  const cause = (alert: Omit<Alert, 'severity' | 'slo'>): Alert => ({ ...alert, severity: 'cause', slo: 'none' });
  const retries = `sum by (edge) (increase(shop_call_retries_total[${window}]))`;
  return [
    cause({
      name: 'BreakerOpen',
      expr: 'max by (job, edge) (shop_breaker_state) == 2',
      summary: 'The circuit breaker of an edge is open',
      impact: 'Calls of the edge fail immediately; orders that need it are cancelled or refused',
      dashboard: 'service',
    }),
    cause({
      name: 'InstanceRestarting',
      expr: `max by (job, instance) (resets(shop_telemetry_spans_total{state="started"}[${window}])) > 0`,
      summary: 'An instance was started again in the last minutes',
      impact: 'Calls in flight may have failed; sagas of the instance are recovered',
      dashboard: 'platform',
    }),
    cause({
      name: 'RetriesHigh',
      expr: and(
        `${retries} > 0.1 * scalar(sum(increase(http_server_request_duration_seconds_count{job="gateway",http_request_method="POST"}[${window}])))`,
        `${retries} >= 3`,
      ),
      summary: 'More than a tenth of the orders needs a retry on an edge',
      impact: 'Customers wait longer; the callee has more load than it would have without the failures',
      dashboard: 'service',
    }),
    cause({
      name: 'DatabaseConnectionsHigh',
      expr: `min_over_time(max by (job, db_client_connection_pool_name) (db_client_connection_pending_requests)[${waiting}]) > 0`,
      summary: 'Callers wait for a connection of a pool all the time',
      impact: 'Requests of the service are slow, or fail after 1.5 s without a connection',
      dashboard: 'service',
    }),
    cause({
      name: 'DeployInProgress',
      expr: [
        'count by (job) (count by (job, service_version) (target_info)) > 1',
        'or count by (job) (count by (job, shop_track) (target_info)) > 1',
      ].join('\n'),
      summary: 'Two versions or tracks of a service run side by side',
      impact: 'What customers notice may come from the new version',
      dashboard: 'platform',
    }),
  ];
}

const watchdog: Alert = {
  name: 'Watchdog',
  severity: 'none',
  expr: 'vector(1)',
  summary: 'Alerts are evaluated and delivered',
  impact: 'None while it fires. Without it, no alert would reach anyone',
  dashboard: 'overview',
  slo: 'none',
};
