import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import type { TimedOrder } from '../report/order-outcome.ts';
import type { OutcomeTone, PageData, UsageRow } from '../report/page-data.ts';
import { timelineOf } from '../report/timeline.ts';
import type { Finished } from './finished.ts';
import { describeOutcome, startOf } from './measured.ts';
import type { Plan } from './plan.ts';

/** Marks a kind of response; more of them would only cover each other, and make a page of megabytes. */
const MAX_MARKS = 4_000;

/** Rows of the CPU chart, beside the one of the machine. */
const MAX_ROWS = 8;

/** A process below it in every second has no row, percent of one core. */
const SHOWN_PERCENT = 5;

/** A load over time, for the charts that experiments have as well. Times in ms since the first order. Pure. */
export function loadTimeline({ phases }: Pick<Plan, 'phases'>, run: Finished): PageData {
  const { records, window } = run;
  const beganAt = startOf(records);
  const startedAt = run.startedAt ?? run.endedAt;
  const sinceStart = (iso: string) => Date.parse(iso) - beganAt;
  const faults = window.faults.flatMap(({ fault, target, from, to }) =>
    from === null
      ? []
      : [{ fault, target, injectedMs: sinceStart(from), revertedMs: to === null ? undefined : sinceStart(to) }],
  );
  const samples = run.backlogs
    .map(({ atMs, pending, open }) => ({ ms: atMs - startedAt, pending, waiting: open, breakers: {} }))
    .filter(({ ms }) => ms >= 0);
  const endMs = [
    run.endedAt - startedAt,
    ...records.map(({ at, tookMs }) => at + tookMs - beganAt),
    ...samples.map(({ ms }) => ms),
    ...faults.map(({ revertedMs = 0 }) => revertedMs),
  ].reduce((latest, ms) => Math.max(latest, ms), 0);
  const timeline = timelineOf({
    endMs,
    phases: phases
      .map(({ name, startS, durationS }) => ({
        phase: name,
        beginMs: startS * 1000,
        endMs: Math.min((startS + durationS) * 1000, endMs),
        verdict: undefined,
      }))
      .filter(({ beginMs }) => beginMs < endMs),
    steps: [],
    events: [],
    orders: records.map((record) => timedOrder(record, beganAt)),
    samples,
    faults,
    usage: usageRows(run, { startedAt, endMs }),
  });
  return { ...timeline, orders: thinned(timeline.orders) };
}

function timedOrder(record: OrderRecord, beganAt: number): TimedOrder {
  return {
    placedMs: record.at - beganAt,
    tookMs: record.tookMs,
    outcome: describeOutcome(record),
    tone: toneOf(record),
  };
}

function toneOf({ http, status }: OrderRecord): OutcomeTone {
  if (http === 0) return 'lost';
  if (status === 'Confirmed') return 'good';
  return status === 'Cancelled' ? 'warn' : 'bad';
}

/** Of each kind every n-th, so that rare ones are all there. */
function thinned({ placedMs, tookMs, outcome }: PageData['orders']): PageData['orders'] {
  const counts = new Map<number, number>();
  for (const kind of outcome) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const seen = new Map<number, number>();
  const isKept = outcome.map((kind) => {
    const index = seen.get(kind) ?? 0;
    seen.set(kind, index + 1);
    return index % Math.ceil((counts.get(kind) ?? 1) / MAX_MARKS) === 0;
  });
  const kept = <T>(values: readonly T[]) => values.filter((_, index) => isKept[index]);
  return { placedMs: kept(placedMs), tookMs: kept(tookMs), outcome: kept(outcome) };
}

/** The machine, and the processes that used most. */
function usageRows(
  { observer: { usage } }: Pick<Finished, 'observer'>,
  { startedAt, endMs }: { startedAt: number; endMs: number },
): readonly UsageRow[] {
  const steps = usage.series().filter(({ fromMs, toMs }) => fromMs + toMs >= 2 * startedAt);
  if (steps.length === 0) return [];
  const rowOf = (label: string, valueIn: (step: (typeof steps)[number]) => number | undefined): UsageRow => {
    const percent = new Array<number | null>(Math.floor(endMs / 1000) + 1).fill(null);
    // A look that was late covers the seconds since the one before it.
    for (const step of steps) {
      const [from, to] = [step.fromMs - startedAt, step.toMs - startedAt].map((ms) => Math.round(ms / 1000));
      for (let second = Math.max(0, from ?? 0); second < Math.max(to ?? 0, (from ?? 0) + 1); second++)
        if (second < percent.length) percent[second] = valueIn(step) ?? null;
    }
    return { label, percent };
  };
  const names = [...new Set(steps.flatMap(({ percent }) => [...percent.keys()]))];
  const most = (name: string) => Math.max(...steps.map(({ percent }) => percent.get(name) ?? 0));
  const total = (name: string) => steps.reduce((sum, { percent }) => sum + (percent.get(name) ?? 0), 0);
  const busiest = names
    .filter((name) => most(name) >= SHOWN_PERCENT)
    .toSorted((a, b) => total(b) - total(a))
    .slice(0, MAX_ROWS);
  return [
    rowOf('all cores', ({ machinePercent }) => machinePercent),
    ...busiest.map((name) => rowOf(name, ({ percent }) => percent.get(name))),
  ];
}
