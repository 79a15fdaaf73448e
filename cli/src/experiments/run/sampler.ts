import { messageOf } from '../../errors.ts';
import type { MetricPoint } from '../../otlp/metric-store.ts';
import { percentile } from '../../shared/statistics.ts';
import { within } from '../../shared/time-limit.ts';
import type { SampleRecord } from '../journal-records.ts';
import { gained, matching, numberOf, readSeries, type Snapshot, snapshot } from './counters.ts';
import { eventCounters } from './event-counters.ts';
import type { LoggedOrder } from './order-log.ts';
import type { RunContext } from './run-context.ts';

const EVERY_MS = 1_000;
/** A part that takes longer is missing in that sample, ms. */
const READ_LIMIT_MS = 900;

/** Increments that are journaled as events when they are noticed; retries come by the hundred under load. */
const WATCHED = [...eventCounters].filter(([event]) => event !== 'call.retried');

const GAUGES = [
  'shop.outbox.pending',
  'shop.compensations.waiting',
  'shop.sagas.active',
  'shop.breaker.state',
] as const;

export interface Sampler {
  /** Since when every sample showed an empty outbox, no saga in work and no compensation left; run's clock, ms. */
  drainedSince(): number | undefined;
  /** Resolves when the last sample is written. */
  stop(): Promise<void>;
}

/** Journals a sample a second. A part that cannot be read is left out with its reason; it never ends the run. */
export function startSampler(context: Omit<RunContext, 'signal'>): Sampler {
  const over = new AbortController();
  const state: SamplerState = { counters: undefined, countedUntil: context.clock.now(), drainedSince: undefined };
  const run = async () => {
    for (;;) {
      await context.clock.sleep(EVERY_MS, over.signal).catch(() => undefined); // Stopped: checked next.
      if (over.signal.aborted) return;
      await sample(context, state);
    }
  };
  const done = run();
  return {
    drainedSince: () => state.drainedSince,
    async stop() {
      over.abort();
      await done;
    },
  };
}

interface SamplerState {
  counters: Snapshot | undefined;
  countedUntil: number;
  drainedSince: number | undefined;
}

async function sample(context: Omit<RunContext, 'signal'>, state: SamplerState): Promise<void> {
  const gaps: string[] = [];
  const [points, ready] = await Promise.all([
    inTime(
      readSeries(context.platform.telemetry, [...GAUGES, ...WATCHED.map(([, { metric }]) => metric)]),
      'telemetry',
      gaps,
    ),
    inTime(readyServices(context), 'the supervisor', gaps),
  ]);
  const gauges = points === undefined ? {} : readGauges(points.points);
  if (points !== undefined) noticeEvents(points.points, context, state);
  const values: SampleRecord['values'] = {
    ...gauges,
    ...responses(context, state),
    ...(ready !== undefined && { ready }),
  };
  const isDrained = values.pending === 0 && values.waiting === 0 && values.activeSagas === 0 && values.inFlight === 0;
  state.drainedSince = isDrained ? (state.drainedSince ?? context.clock.now()) : undefined;
  context.journal.write({ type: 'sample', values, ...(gaps.length > 0 && { gap: gaps.join('; ') }) });
}

async function inTime<T>(work: Promise<T>, what: string, gaps: string[]): Promise<T | undefined> {
  try {
    return await within(work, READ_LIMIT_MS, what);
  } catch (error) {
    gaps.push(`${what}: ${messageOf(error)}`);
    return undefined;
  }
}

async function readyServices({ platform }: Pick<RunContext, 'platform'>): Promise<Readonly<Record<string, number>>> {
  const { instances } = await platform.connection.control.state();
  const services = instances.filter(({ kind }) => kind === 'service');
  const byService = Map.groupBy(services, ({ service }) => service);
  return Object.fromEntries(
    [...byService].map(([service, own]) => [service, own.filter(({ status }) => status === 'ready').length]),
  );
}

/** Each instance of orders counts the whole table: the newest count is taken, and the highest is the cautious one. */
function readGauges(points: readonly MetricPoint[]): Partial<SampleRecord['values']> {
  const live = points.filter(({ stale }) => !stale);
  const named = (name: string) => live.filter((point) => point.name === name).map(numberOf);
  const highest = (name: string) => (named(name).length === 0 ? undefined : Math.max(...named(name)));
  const pending = highest('shop.outbox.pending');
  const waiting = highest('shop.compensations.waiting');
  const active = named('shop.sagas.active');
  const breakers: Record<string, number> = {};
  for (const point of live.filter(({ name }) => name === 'shop.breaker.state')) {
    const edge = String(point.attributes.edge);
    breakers[edge] = Math.max(breakers[edge] ?? 0, numberOf(point));
  }
  return {
    ...(pending !== undefined && { pending }),
    ...(waiting !== undefined && { waiting }),
    ...(active.length > 0 && { activeSagas: active.reduce((sum, value) => sum + value, 0) }),
    breakers,
  };
}

function responses({ orders, clock }: Pick<RunContext, 'orders' | 'clock'>, state: SamplerState) {
  const now = clock.now();
  const endOf = ({ response, invokedAt }: LoggedOrder) => invokedAt + (response?.tookMs ?? Number.POSITIVE_INFINITY);
  const recent = orders.orders.filter((order) => endOf(order) > state.countedUntil && endOf(order) <= now);
  const times = recent.flatMap(({ response }) => response?.tookMs ?? []);
  const perSecond = Math.round((recent.length / Math.max(1, now - state.countedUntil)) * 10_000) / 10;
  state.countedUntil = now;
  const at = (share: number) => Math.round(percentile(times, share) ?? 0);
  return {
    inFlight: orders.inFlight(),
    perSecond,
    ...(times.length > 0 && { p50: at(0.5), p95: at(0.95) }),
  };
}

function noticeEvents(points: readonly MetricPoint[], { journal }: Pick<RunContext, 'journal'>, state: SamplerState) {
  const before = state.counters;
  state.counters = snapshot(points);
  if (before === undefined) return;
  for (const [event, { metric, by, where }] of WATCHED) {
    const own = matching(
      points.filter(({ name }) => name === metric),
      where,
    );
    for (const [label, series] of Map.groupBy(own, (point) => (by === undefined ? '' : String(point.attributes[by])))) {
      const count = gained(series, before);
      if (count <= 0) continue;
      journal.write({
        type: 'event',
        event,
        ...(by === 'edge' && { edge: label }),
        ...(by === 'compensation' && { details: label }),
        count,
      });
    }
  }
}
