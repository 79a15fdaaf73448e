import type { Profile } from '../../cli/src/slo/profiles.ts';
import { ATTAINED, BUDGET_LEFT, badRate, EVENTS, seriesOf, totalRate, windowIn } from '../../cli/src/slo/series.ts';
import type { Slo } from '../../cli/src/slo/slo.ts';
import { windowS } from '../../cli/src/slo/window.ts';
import { type Alert, and, LOW_TRAFFIC_WINDOWS } from './alert.ts';

export function tickets(availability: Slo, profile: Profile): readonly Alert[] {
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
    const count = (rate: string) => `round(${rate} * ${seconds})`;
    return `(${count(badOnes)} >= ${bad} and ${count(total)} <= ${count(badOnes)})`;
  });
  return `(${failing.join('\nor ')})\nand round(${seriesOf(totalRate(fast), slo)} * ${windowS(fast)}) < ${requests}`;
}

/**
 * A process that ended in order said so in its last report (`shop.telemetry.closed`). One missed scrape takes all series away,
 * and a busy machine misses some. So a service is gone when it was in none of several scrapes. Where
 * many scrapes in a row fail, every service is, for as long as that lasts: then the receiver is unavailable.
 */
function telemetryLostExpression({ hasSupervisor }: Profile): string {
  const [dropped, missing, recently] = hasSupervisor ? ['1m', '15s', '2m'] : ['10m', '1m', '15m'];
  const spans = (state: string) => `shop_telemetry_spans_total{state="${state}"}`;
  const increase = (state: string) => `sum by (job) (increase(${spans(state)}[${dropped}]))`;
  const seenIn = (series: string, window: string) => `count by (job) (last_over_time(${series}[${window}]))`;
  return [
    `${increase('dropped')} > 0.01 * ${increase('started')}`,
    `or (${seenIn(spans('started'), recently)}`,
    `unless on (job) ${seenIn(spans('started'), missing)}`,
    `unless on (job) ${seenIn('shop_telemetry_closed', recently)}`,
    // After a pause of the machine the first scrape is still to come. In a cluster there are other jobs to scrape.
    ...(hasSupervisor
      ? [
          `and on () max(sum_over_time(up[${missing}])) >= 5)`,
          `or (max(max_over_time(up[${missing}])) == 0`,
          `and max(count_over_time(up[${missing}])) >= 10)`,
        ]
      : [')']),
  ].join('\n');
}
