import type { Profile } from '../cli/src/slo/profiles.ts';
import {
  ATTAINED,
  BAD_NOW,
  BUDGET_LEFT,
  BURN_NOW,
  badRate,
  badRatio,
  EVENTS,
  OBJECTIVE,
  seriesOf,
  TOTAL_NOW,
  totalRate,
  windowIn,
  windowsOf,
} from '../cli/src/slo/series.ts';
import { budgetOf, type Slo } from '../cli/src/slo/slo.ts';
import { windowMs, writeWindow } from '../cli/src/slo/window.ts';
import { DEFAULT_PREFETCH } from '../services/shipping/src/config.ts';
import { LOW_TRAFFIC_WINDOWS } from './alerts/alert.ts';

const QUEUE = 'shipping.order-confirmed';
const CONFIRMED = 'shop_orders_outcomes_total{outcome="confirmed"}';

/** Messages that shipping is done with, of any outcome: one that it gives back still waits. */
export function settledIn(window: string): string {
  return `(sum(increase(shop_shipping_messages_total{outcome!="retried"}[${window}])) or vector(0))`;
}

/** A rule of Prometheus that records a series. */
export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface RuleGroup<Rule> {
  readonly name: string;
  readonly interval: string;
  readonly rules: readonly Rule[];
}

/** Everything that is recorded in a profile. A rule stands behind those that it reads, in its group or in one before. */
export function recordingGroups(slos: readonly Slo[], profile: Profile): readonly RuleGroup<RecordingRule>[] {
  const byWindow = [...new Set(slos.flatMap((slo) => windowsFor(slo, profile)))].toSorted((a, b) => msOf(a) - msOf(b));
  const every = writeWindow(profile.scrapeMs);
  return [
    ...(profile.hasSupervisor ? [{ name: 'shop-queue', interval: every, rules: queueRules }] : []),
    { name: 'slo-now', interval: every, rules: slos.filter((slo) => !slo.isCounter).flatMap(stateRules) },
    ...byWindow.map((window) => ({
      name: `slo-rate-${window}`,
      interval: intervalOf(window, profile),
      rules: slos.filter((slo) => windowsFor(slo, profile).includes(window)).flatMap((slo) => rateRules(slo, window)),
    })),
    {
      name: 'slo-budget',
      interval: intervalOf(windowIn(profile, slos[0]?.window ?? '30d'), profile),
      rules: slos.flatMap((slo) => budgetRules(slo, profile)),
    },
    { name: 'slo-burn', interval: every, rules: slos.map((slo) => burnRule(slo, profile)) },
  ];
}

const msOf = (window: string) => windowMs(window) ?? 0;

/** The SLO whose failures at low traffic have an alert is recorded for its windows too. */
function windowsFor(slo: Slo, profile: Profile): readonly string[] {
  const low = slo.name === 'orders-availability' ? LOW_TRAFFIC_WINDOWS : [];
  return [...new Set([...windowsOf(slo, profile), ...low])];
}

/** No more often than a window changes noticeably, and often enough for Prometheus to keep the value (5 min). */
const SHARE_OF_A_WINDOW = 120;
const MOST_MS = 120_000;

function intervalOf(window: string, { scrapeMs }: Profile): string {
  const ms = Math.round(msOf(window) / SHARE_OF_A_WINDOW / scrapeMs) * scrapeMs;
  return writeWindow(Math.min(Math.max(ms, scrapeMs), MOST_MS));
}

/**
 * What waits for shipping. The supervisor sees the messages in the queue, and not those that a consumer holds. A consumer that
 * cannot ship its messages settles none.
 */
const queueRules: readonly RecordingRule[] = [
  { record: 'shop:queue_waiting', expr: `sum(shop_queue_messages{queue="${QUEUE}"})` },
  {
    record: 'shop:queue_stalled',
    // Of a queue that has been seen for less than 8 of the 10 s nothing is known, as after a suspension.
    expr: [
      '(min_over_time(shop:queue_waiting[10s]) > bool 0)',
      '* (count_over_time(shop:queue_waiting[10s]) >= bool 8)',
      `* (${settledIn('10s')} == bool 0)`,
    ].join(' '),
  },
  {
    record: 'shop:shipments_missing',
    // Confirmed, not shipped, and waiting nowhere. Counts of a process's last second are lost when it is killed: that is 2.5 % of
    // two minutes.
    expr: [
      `0.975 * sum(increase(${CONFIRMED}[2m]))`,
      '- (sum(increase(shop_shipping_messages_total{outcome="shipped"}[2m])) or vector(0))',
      '- max(shop_outbox_pending)',
      `- sum(shop_queue_messages{queue=~"${QUEUE.replace('.', '[.]')}.*"})`,
    ].join(' '),
  },
  { record: 'shop:orders_confirmed_rate', expr: `sum(rate(${CONFIRMED}[10s]))` },
  {
    record: 'shop:counts_apart',
    // Two processes report up to two seconds apart, and an order is on its way for some time. Where a load begins or ends within the
    // two minutes, these orders are in one count only. At a steady rate 2.5 % are the orders of three seconds; here as many count.
    expr: `clamp_min(3 * max_over_time(shop:orders_confirmed_rate[2m]) - 0.025 * sum(increase(${CONFIRMED}[2m])), 0)`,
  },
  {
    record: 'shop:messages_held',
    // The most that consumers can hold, while they do: they settle none, or have so many that more of them wait in the queue.
    expr: [
      `(${DEFAULT_PREFETCH} * max(shop_queue_consumers{queue="${QUEUE}"})`,
      `and (${settledIn('10s')} == 0 or shop:queue_waiting > 0))`,
      'or vector(0)',
    ].join(' '),
  },
];

function stateRules(slo: Slo): readonly RecordingRule[] {
  const labels = { slo: slo.name };
  return [
    { record: BAD_NOW, expr: slo.bad(''), labels },
    { record: TOTAL_NOW, expr: slo.total(''), labels },
  ];
}

function rateRules(slo: Slo, window: string): readonly RecordingRule[] {
  const labels = { slo: slo.name };
  const rate = (query: (window: string) => string, now: string) =>
    slo.isCounter ? query(window) : `avg_over_time(${seriesOf(now, slo)}[${window}])`;
  return [
    { record: badRate(window), expr: rate((one) => slo.bad(one), BAD_NOW), labels },
    { record: totalRate(window), expr: rate((one) => slo.total(one), TOTAL_NOW), labels },
    // Without requests there is no ratio, rather than one of 0.
    {
      record: badRatio(window),
      expr: `clamp_max(${seriesOf(badRate(window), slo)} / (${seriesOf(totalRate(window), slo)} > 0), 1)`,
      labels,
    },
  ];
}

function budgetRules(slo: Slo, profile: Profile): readonly RecordingRule[] {
  const labels = { slo: slo.name };
  const window = windowIn(profile, slo.window);
  const shortest = windowsOf(slo, profile)[0] ?? '';
  const sumOf = (name: string) => `sum_over_time(${seriesOf(name, slo)}[${window}])`;
  const seconds = msOf(intervalOf(shortest, profile)) / 1_000;
  return [
    { record: OBJECTIVE, expr: `vector(${slo.objectives[profile.name]})`, labels },
    // Each recorded rate stands for the time until the next one.
    { record: EVENTS, expr: `${sumOf(totalRate(shortest))} * ${seconds}`, labels },
    {
      record: ATTAINED,
      expr: `1 - clamp_max(${sumOf(badRate(shortest))} / (${sumOf(totalRate(shortest))} > 0), 1)`,
      labels,
    },
    {
      record: BUDGET_LEFT,
      expr: `1 - (1 - ${seriesOf(ATTAINED, slo)}) / ${budgetOf(slo, profile.name)}`,
      labels,
    },
  ];
}

function burnRule(slo: Slo, profile: Profile): RecordingRule {
  const [shortest = ''] = windowsOf(slo, profile);
  return {
    record: BURN_NOW,
    expr: `${seriesOf(badRatio(shortest), slo)} / ${budgetOf(slo, profile.name)}`,
    labels: { slo: slo.name },
  };
}
