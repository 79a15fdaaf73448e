import { describe, expect, it } from 'vitest';
import { endsAutomatically, type Lease } from '../chaos/lease.ts';
import type { PagerEvent } from '../pager/page-event.ts';
import type { ShownAlert } from '../pager/pager-view.ts';
import { createFakeClock } from '../shared/testing/fake-clock.ts';
import { measurePair, NotRevertedError, type PairPorts, type PairTimes } from './measure-pair.ts';
import type { OrderOutcome } from './order-outcomes.ts';
import type { Pair } from './pair.ts';
import { aPair } from './testing/records.ts';

/*
 * Goal: a pair is steady load, fault, revert and the wait for silence, in this order, and waits no longer than something can change.
 * Whatever is wrong with it is in its record, and no fault stays. Method: a clock whose sleeps end immediately, and a platform of values.
 */

const START = createFakeClock().date().getTime();
const times: PairTimes = { steadyMs: 20_000, backlogMs: 20_000, faultMs: 45_000, clearMs: 60_000 };

interface FakePlatform {
  /** Pages that fire at a time, ms since the start: `Stalled`, `Burning slow`. */
  readonly firing?: (ms: number) => readonly string[];
  /** How the fault ended without a request. */
  readonly end?: string;
  readonly history?: readonly Partial<PagerEvent>[];
  readonly outcomes?: readonly Partial<OrderOutcome>[];
  readonly sent?: { readonly sent: number; readonly late: number };
  readonly witness?: Lease['witness'];
  readonly shipped?: (ids: readonly string[], ms: number) => ReadonlyMap<string, number>;
  readonly scraped?: number;
  readonly notReverted?: readonly string[];
  readonly onInject?: () => void;
}

/** Measures the pair, and says what was done when, in s. */
async function measure(fake: FakePlatform = {}, pair: Pair = aPair('down'), signal = new AbortController().signal) {
  const clock = createFakeClock();
  const done: string[] = [];
  const note = (what: string) => void done.push(`${Math.round(clock.now() / 1_000)} ${what}`);
  const witness = fake.witness ?? { verdict: 'observed', evidence: 'seen' };
  const end = fake.end === undefined ? {} : { end: { why: fake.end, tookMs: 1, evidence: '' } };
  const lease = { id: 'a', since: '', witness, ...end } as Lease;
  const ports: PairPorts = {
    platform: 'shop-chaos',
    clock,
    signal,
    emptyPrometheus: async () => note('empty'),
    startLoad() {
      note('load');
      return {
        startedAt: START,
        outcomes: (fake.outcomes ?? []).map((one) => ({ sentAt: START, tookMs: 10, http: 201, ...one })),
        sent: fake.sent ?? { sent: fake.outcomes?.length ?? 0, late: 0 },
        stop: async () => note('no load'),
      };
    },
    pager: {
      view: async () => ({
        time: '',
        pipeline: 'working',
        silences: [],
        alerts: (fake.firing?.(clock.now()) ?? []).map((name) => {
          const [alertname, burn] = name.split(' ');
          const labels = burn === undefined ? {} : { burn };
          return { alertname, labels, severity: 'page', state: 'firing' } as unknown as ShownAlert;
        }),
      }),
      history: async () => (fake.history ?? []) as readonly PagerEvent[],
    },
    faults: {
      async inject(step, request) {
        note(`inject ${request.fault} as ${step}`);
        fake.onInject?.();
        signal.throwIfAborted();
        return { ...lease, since: clock.date().toISOString() };
      },
      refresh: async () => lease,
      async revert(step) {
        note(`revert ${step ?? 'all'}`);
        return { reverted: [], notReverted: fake.notReverted ?? [] };
      },
    },
    shippedAt: async (ids) => fake.shipped?.(ids, clock.now()) ?? new Map(ids.map((id) => [id, START])),
    scrapedShare: async () => fake.scraped ?? 1,
  };
  return { done, record: () => measurePair(pair, ports, times) };
}

it('is steady load, the fault, its revert, and a time in which its last pages show', async () => {
  const { done, record } = await measure();
  expect(await record()).toMatchObject({
    injectedMs: 20_000,
    revertedMs: 65_000,
    endedMs: 73_000,
    witness: 'seen',
    problems: [],
    notReverted: [],
  });
  expect(done).toEqual(['0 empty', '0 load', '20 inject down as fault', '65 revert all', '73 no load']);
});

it('waits until no page fires, at most for the limit', async () => {
  const until = async (s: number) => {
    const { record } = await measure({ firing: (ms) => (ms > 30_000 && ms < s * 1_000 ? ['Stalled'] : []) });
    return (await record()).endedMs;
  };
  expect(await until(100)).toBe(100_000);
  expect(await until(999)).toBe(125_000);
});

it('does not wait for pages that look back over minutes', async () => {
  const { record } = await measure({ firing: (ms) => (ms > 30_000 ? ['ShipmentsMissing', 'Burning slow'] : []) });
  expect((await record()).endedMs).toBe(73_000);
});

it('a fault that happens once has all its time before the revert', async () => {
  const { record } = await measure({ end: endsAutomatically.momentary }, aPair('kill'));
  expect(await record()).toMatchObject({ revertedMs: 65_000, endedMs: 65_000 });
});

describe('waits for orders that met the fault', () => {
  const confirmed = { id: 'a', status: 'Confirmed', sentAt: START + 60_000 } as const;
  const endedMs = async (fake: FakePlatform) => (await (await measure(fake)).record()).endedMs;

  it('until they are shipped', async () => {
    const shipped = (ids: readonly string[], ms: number) => new Map(ms < 70_000 ? [] : ids.map((id) => [id, START]));
    expect(await endedMs({ outcomes: [confirmed], shipped })).toBe(78_000);
  });

  it('until they are late', async () => {
    expect(await endedMs({ outcomes: [confirmed], shipped: () => new Map() })).toBe(89_000);
    expect(await endedMs({ outcomes: [confirmed], sent: { sent: 2, late: 0 } })).toBe(89_000);
  });

  it('and for no later ones', async () => {
    const later = { ...confirmed, sentAt: START + 66_000 };
    expect(await endedMs({ outcomes: [later], sent: { sent: 0, late: 0 }, shipped: () => new Map() })).toBe(73_000);
  });
});

it('a fault with a backlog begins with it', async () => {
  const backlog = { fault: 'stop', target: 'shipping', parameters: {} };
  const { done, record } = await measure({}, { ...aPair('purge'), backlog });
  expect(await record()).toMatchObject({ injectedMs: 20_000, revertedMs: 65_000, problems: [] });
  expect(done).toEqual([
    '0 empty',
    '0 load',
    '20 inject stop as backlog',
    '40 inject purge as fault',
    '40 revert backlog',
    '65 revert all',
    '73 no load',
  ]);
});

describe('is unknown', () => {
  const confirmed = { id: 'a', status: 'Confirmed' } as const;
  it.each([
    [
      'where an alert of before still fires',
      { firing: () => ['Stalled'] },
      'before the fault, alerts fired: Stalled (page)',
    ],
    ['where orders failed before', { outcomes: [{ http: 503 }, {}] }, 'before the fault, 1 of 2 orders failed'],
    [
      'where the fault is not seen in effect',
      { witness: { verdict: 'not_observed', evidence: 'it passes' } },
      'the fault was not seen in effect: it passes',
    ],
    [
      'where orders were sent late',
      { sent: { sent: 100, late: 6 } },
      '6 of 100 orders were sent late: the machine is too busy',
    ],
    ['where scrapes are missing', { scraped: 0.89 }, 'Prometheus scraped 89 % of the seconds: the machine is too busy'],
    [
      'where shipments cannot be read',
      {
        outcomes: [confirmed],
        shipped: () => {
          throw new Error('no connection');
        },
      },
      'the shipments cannot be read: no connection',
    ],
    [
      'where alerts did not arrive',
      { history: [{ type: 'pipeline', status: 'lost', time: new Date(START + 1).toISOString() }] },
      'alerts did not arrive from 2026-11-21T00:00:00.001Z on',
    ],
  ] as const)('%s', async (_, fake, problem) => {
    const { record } = await measure(fake as FakePlatform);
    expect((await record()).problems).toEqual([problem]);
  });

  it('and not where scrapes are missing because the fault ends them', async () => {
    const { record } = await measure({ scraped: 0.33 }, { ...aPair('telemetry-outage'), endsScrapes: true });
    expect((await record()).problems).toEqual([]);
  });

  it('and no fault is injected where it was not steady', async () => {
    const { done, record } = await measure({ firing: () => ['Stalled'] });
    expect(await record()).not.toHaveProperty('injectedMs');
    expect(done.join()).not.toContain('inject');
  });

  it('where the fault could not be injected; what was begun is reverted', async () => {
    const { done, record } = await measure({
      onInject: () => {
        throw new Error('no proxy');
      },
    });
    expect((await record()).problems).toEqual(['no proxy']);
    expect(done.slice(-2)).toEqual(['20 revert all', '20 no load']);
  });
});

it('waits for shipments that are due, and counts those that never come', async () => {
  const { record } = await measure({
    outcomes: [{ id: 'a', status: 'Confirmed', sentAt: START + 80_000 }],
    shipped: () => new Map(),
  });
  expect((await record()).shipments).toEqual({ confirmed: 1, late: 0, missing: 1 });
});

it('reports a fault that is left', async () => {
  const { record } = await measure({ notReverted: ['down on orders'] });
  expect((await record()).notReverted).toEqual(['down on orders']);
});

it.each([
  ['ends with the interruption', [], 'This operation was aborted'],
  ['says so where it is left', ['down on orders'], 'not reverted: down on orders'],
])('an interruption reverts the fault, and %s', async (_, notReverted, message) => {
  const interruption = new AbortController();
  const { done, record } = await measure(
    { notReverted, onInject: () => interruption.abort() },
    aPair('down'),
    interruption.signal,
  );
  const error = await record().then(
    () => undefined,
    (reason: unknown) => reason as Error,
  );
  expect(error?.message).toBe(message);
  expect(error instanceof NotRevertedError).toBe(notReverted.length > 0);
  expect(done.slice(-2)).toEqual(['20 revert all', '20 no load']);
});
