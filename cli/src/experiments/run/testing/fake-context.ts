import type { MetricPoint } from '../../../otlp/metric-store.ts';
import type { PagerEvent } from '../../../pager/page-event.ts';
import type { ShownAlert } from '../../../pager/pager-view.ts';
import type { PipelineStatus } from '../../../pager/pipeline-watch.ts';
import type { PlatformEvent } from '../../../platform/events.ts';
import type { RunClock } from '../../../shared/clock.ts';
import { createFakeClock } from '../../../shared/testing/fake-clock.ts';
import type { RecordedTrace } from '../../../trace/backend.ts';
import type { NewRecord } from '../../journal-records.ts';
import type { Baseline, RunContext } from '../run-context.ts';

/** What the parts of a run have seen; nothing happened unless said otherwise. */
export interface FakeContext {
  /** What telemetry responds; an Error for one that cannot be read, undefined for one that never responds. */
  readonly points?: () => readonly MetricPoint[] | Error | undefined;
  /** What the store has of every trace; nothing unless said otherwise. */
  readonly trace?: () => Partial<RecordedTrace>;
  readonly start?: Partial<Baseline>;
  readonly exits?: readonly Pick<PlatformEvent, 'subject' | 'message' | 'time'>[];
  readonly events?: readonly PlatformEvent[];
  /** Targets of faults, which last from the run's begin to its end unless said otherwise; ms. */
  readonly targets?: readonly (string | { target: string; from: number; until: number | undefined })[];
  /** Faults that others ended. */
  readonly cutShort?: readonly string[];
  /** Orders: when they were sent and how long they took, ms; without an end they are in flight. */
  readonly orders?: readonly { invokedAt: number; tookMs?: number }[];
  readonly instances?: readonly { name: string; service: string; status: string }[];
  /** What the pager has; by default alerts arrive, and none fires. */
  readonly pager?: FakePager;
}

export interface FakePager {
  readonly pipeline?: PipelineStatus;
  /** Those that fire. */
  readonly firing?: readonly Pick<ShownAlert, 'alertname' | 'severity' | 'state'>[];
  readonly history?: readonly Partial<PagerEvent>[];
}

/** A context of a run whose platform is made of values. */
export function createFakeContext(fake: FakeContext, clock: RunClock = createFakeClock()) {
  const records: NewRecord[] = [];
  const orders = (fake.orders ?? []).map(({ invokedAt, tookMs }) => ({
    invokedAt,
    ...(tookMs !== undefined && { response: { tookMs } }),
  }));
  const context = {
    clock,
    signal: new AbortController().signal,
    journal: { write: (record: NewRecord) => void records.push(record) },
    baselines: new Map([
      ['start', { counters: new Map(), time: 0, restarts: {}, rss: {}, hits: undefined, ...fake.start }],
    ]),
    orders: {
      orders,
      flipped: new Set(),
      inFlight: () => orders.filter(({ response }) => response === undefined).length,
    },
    faults: {
      targets: () =>
        (fake.targets ?? []).map((one) => (typeof one === 'string' ? { target: one, from: 0, until: undefined } : one)),
      cutShort: () => fake.cutShort ?? [],
    },
    processEvents: {
      exits: () => fake.exits ?? [],
      starts: () => [],
      all: () => fake.events ?? [],
      gap: () => undefined,
    },
    platform: {
      pager: {
        view: async () => ({ pipeline: fake.pager?.pipeline ?? 'working', alerts: fake.pager?.firing ?? [] }),
        history: async () => fake.pager?.history ?? [],
      },
      telemetry: {
        trace: async () => ({ spans: [], incomplete: undefined, ...fake.trace?.() }),
        async metrics(names: readonly string[]) {
          const points = (fake.points ?? (() => []))();
          if (points === undefined) return new Promise<never>(() => undefined);
          if (points instanceof Error) throw points;
          const alive = aPoint('shop.telemetry.spans', 1, { time: clock.date().getTime() });
          return [...points, alive].filter(({ name }) => names.includes(name));
        },
      },
      connection: {
        control: {
          state: async () => ({ instances: (fake.instances ?? []).map((one) => ({ kind: 'service', ...one })) }),
        },
      },
    },
  } as unknown as RunContext;
  return { context, records };
}

/** A point of orders, reported now. */
export function aPoint(name: string, value: number, more: object = {}): MetricPoint {
  return {
    name,
    type: 'gauge',
    service: 'orders',
    instance: 'orders-1',
    pid: 1,
    attributes: {},
    stale: false,
    time: Number.MAX_SAFE_INTEGER,
    value,
    ...more,
  } as unknown as MetricPoint;
}
