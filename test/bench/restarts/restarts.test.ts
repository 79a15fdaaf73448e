import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SampledTrace } from '../../../cli/src/load/trace-sample.ts';
import { connectionChoices, ratesByConnection } from '../../../scenarios/bench/connections.ts';
import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import { createArrivals } from './arrivals.ts';
import { balanceOf, type Ledger } from './ledger.ts';
import { failureOfOrder, failureOfRead } from './outcomes.ts';
import { renderRestarts } from './render.ts';
import { type Chosen, calmOf, evaluate, type Result, resultOf, type ServiceResult } from './result.ts';
import { secondsOfLoad, startsInTime } from './schedule.ts';
import { lastServedMs } from './switches.ts';
import { type Counted, tallyOf } from './tally.ts';

describe('a request', () => {
  it.each([
    [{ http: 201, status: 'Confirmed' }, undefined],
    [{ http: 200, status: 'Cancelled', reason: 'payment unavailable' }, '200 Cancelled: payment unavailable'],
    [{ http: 503, code: 'orders_unavailable' }, '503 orders_unavailable'],
    [{ http: 0, code: 'ECONNRESET' }, 'no response: ECONNRESET'],
    [{ http: 201, status: undefined }, '201 without a code'],
  ])('that places an order, with the outcome %o, failed: %s', (outcome, failure) => {
    expect(failureOfOrder(outcome)).toBe(failure);
  });

  it.each([
    [{ http: 200, wanted: 'Confirmed', status: 'Confirmed' }, undefined],
    [{ http: 200, wanted: 'Confirmed', status: 'Cancelled' }, '200 Cancelled, was Confirmed'],
    [{ http: 404, wanted: 'Confirmed', code: 'order_not_found' }, '404 order_not_found'],
    [{ http: 0, wanted: 'Confirmed', code: 'timeout' }, 'no response: timeout'],
  ])('that reads an order, with the outcome %o, failed: %s', (outcome, failure) => {
    expect(failureOfRead(outcome)).toBe(failure);
  });
});

describe('arrivals', () => {
  it('are as many as are due at the rate, each once, however late the look', () => {
    const looks = fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), looks, (rate, steps) => {
        const arrivals = createArrivals(rate, 1_000);
        let nowMs = 1_000;
        const seen: number[] = [];
        for (const step of steps) {
          nowMs += step;
          seen.push(...arrivals.due(nowMs));
        }
        expect(seen).toHaveLength(Math.floor(((nowMs - 1_000) * rate) / 1_000) + 1);
        expect(seen).toEqual(seen.map((_, index) => 1_000 + (index * 1_000) / rate));
        expect(seen.every((dueMs) => dueMs <= nowMs + 1e-6)).toBe(true);
      }),
    );
  });

  it('are shared out over kept and new connections', () => {
    expect(connectionChoices.map((kind) => ratesByConnection(25, kind))).toEqual([
      [['kept', 25]],
      [['new', 25]],
      [
        ['kept', 13],
        ['new', 12],
      ],
    ]);
    expect(ratesByConnection(1, 'mixed')).toEqual([['kept', 1]]);
  });
});

describe('the load of restarts', () => {
  it('is long enough for all of them at their distance, or at what they take', () => {
    expect(secondsOfLoad(20, { everyMs: 8_000, tookMs: [] })).toBeGreaterThanOrEqual(160);
    expect(secondsOfLoad(10, { everyMs: 1_000, tookMs: [4_000, 5_000, 30_000] })).toBeGreaterThanOrEqual(50 + 30);
  });

  it('has time for at least one, also where one was very slow', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 120_000 })),
        fc.integer({ min: 1, max: 60_000 }),
        (tookMs, everyMs) => {
          const untilMs = secondsOfLoad(1, { everyMs, tookMs }) * 1_000;
          expect(tookMs.length === 0 || startsInTime(0, { untilMs, tookMs })).toBe(true);
        },
      ),
    );
    expect(startsInTime(0, { untilMs: secondsOfLoad(1, { everyMs: 1, tookMs: [] }) * 1_000, tookMs: [] })).toBe(true);
  });

  it('is not begun where it would end after the load', () => {
    expect(startsInTime(0, { untilMs: 12_000, tookMs: [3_000, 10_000] })).toBe(false);
    expect(startsInTime(0, { untilMs: 14_000, tookMs: [3_000, 10_000] })).toBe(true);
  });
});

const served: Counted = { client: 'own', connection: 'kept', what: 'order', tookMs: 20, failure: undefined };
const reset: Counted = { ...served, client: 'k6', connection: 'new', failure: 'no response: ECONNRESET' };

it('requests are counted by client and connection, failures by their reason too', () => {
  const tally = tallyOf([served, served, { ...served, what: 'read', tookMs: 90 }, reset, reset]);
  expect(tally).toEqual({
    requests: 5,
    by: { k6: { kept: 0, new: 2 }, own: { kept: 3, new: 0 } },
    failed: 2,
    failures: [{ client: 'k6', connection: 'new', what: 'order', failure: 'no response: ECONNRESET', count: 2 }],
    servedMs: { p99: 90, max: 90 },
  });
  expect(tallyOf([])).not.toHaveProperty('servedMs');
});

describe('the ledger', () => {
  const order = (id: string, key: string) =>
    ({ id, key, status: 'Confirmed', reason: null, state: 'Confirmed' }) as const;
  const record = (orderId: string, key: string) => ({ orderId, key, status: 'Confirmed' }) as OrderRecord;
  const ledger: Ledger = { report: 'not audited', stored: [order('1', 'a'), order('2', 'b'), order('3', 'b')] };

  it('misses orders that a response named, and that are not there, or have another status', () => {
    expect(balanceOf([record('1', 'a'), record('9', 'c')], ledger)).toEqual({ lost: ['9'], doubled: [] });
    const cancelled = { ...order('1', 'a'), status: 'Cancelled' } as const;
    expect(balanceOf([record('1', 'a')], { ...ledger, stored: [cancelled] })).toEqual({ lost: ['1'], doubled: [] });
  });

  it('has too much where a key has two orders, or the audit finds an effect twice', () => {
    expect(balanceOf([record('2', 'b')], ledger).doubled).toEqual(['b']);
    const twice = { kind: 'duplicated', orderId: '1', detail: '' };
    const report = { invariants: [{ violations: [twice, twice, { ...twice, orderId: 'of others' }] }] };
    const audited = { ...ledger, report: report as unknown as Ledger['report'] };
    expect(balanceOf([record('1', 'a')], audited).doubled).toEqual(['1']);
  });
});

describe('a switch', () => {
  const served = [
    { instance: 'orders-1', at: 990 },
    { instance: 'orders-1', at: 1_020 },
    { instance: 'orders-2', at: 1_050 },
  ];

  it('is over with the last order of the set that is left', () => {
    expect(lastServedMs(served, { left: ['orders-1'], at: 1_000 })).toBe(20);
    expect(lastServedMs(served, { left: ['orders-3'], at: 1_000 })).toBe(0);
  });

  it('is not known where no order came after it', () => {
    expect(() => lastServedMs(served, { left: ['orders-1'], at: 1_050 })).toThrow('no order was served');
  });
});

describe('a run', () => {
  const chosen: Chosen = {
    services: ['gateway'],
    restarts: 1,
    replicas: 2,
    rate: 10,
    everyMs: 8_000,
    calmMs: 5_000,
    connections: 'mixed',
    runtime: 'process',
    traces: 1,
    leastRequests: 2,
  };
  const trace = { traceId: 't', orderId: 'o', phase: 'gateway', contract: 'confirmed', explanation: '' };
  const passed: SampledTrace = { ...trace, verdict: 'pass' };
  const pace = { due: 100, late: 0, dropped: 0, k6Dropped: 0 };
  const phase = {
    restarts: [{ tookMs: 4_000, endedMs: 9_000, replaced: 2 }],
    afterLoad: 0,
    orders: [],
    pace,
    switches: [],
  };
  const whole = resultOf('gateway', { ...phase, counted: [served, served] }, { lost: [], doubled: [] }, [passed]);
  const balance = { lost: [], doubled: [] };
  const calm = calmOf({ counted: [served], orders: [], pace, k6Dropped: 0 }, balance);
  const audit = { verdict: 'pass', orders: 2, violated: [] };
  const found = (one: Partial<ServiceResult> = {}, more: Partial<Chosen> = {}) =>
    evaluate({ calm, services: [{ ...whole, ...one }], audit, chosen: { ...chosen, ...more } });

  it('holds when nothing failed, was lost or doubled, and each trace has its shape', () => {
    expect(found()).toEqual({ misses: [], stated: [] });
  });

  it.each<[string, Partial<ServiceResult>, Partial<Chosen>, string]>([
    ['a request failed', tallyOf([served, reset]), {}, '1 x no response: ECONNRESET (order, new connection, k6)'],
    ['a restart failed', { restartsFailed: 1 }, {}, '1 restarts failed'],
    ['a replica was not replaced', { replaced: 1 }, {}, '1 replicas were replaced or added, expected 2'],
    [
      'a replica was not added',
      { replaced: 2 },
      { replicas: 1, scale: 2 },
      '2 replicas were replaced or added, expected 1',
    ],
    ['an order was lost', { lost: ['9'] }, {}, '1 orders lost: 9'],
    ['an order was doubled', { doubled: ['9'] }, {}, '1 orders doubled: 9'],
    ['a trace has another shape', { traces: [{ ...passed, verdict: 'fail' }] }, {}, 'trace of o: fail'],
    ['a trace is unknown', { traces: [{ ...passed, verdict: 'unknown' }] }, {}, 'trace of o: unknown'],
    ['there are too few traces', { traces: [] }, {}, '0 traces, 1 were wanted'],
    [
      'the rate was not held',
      { load: { ...pace, late: 2, k6Dropped: 1 } },
      {},
      'the rate was not held: 3 of about 200',
    ],
    ['there are too few requests', {}, { leastRequests: 3 }, '2 requests during restarts, at least 3 were wanted'],
  ])('does not hold when %s', (_, one, more, miss) => {
    expect(found(one, more).misses.join('\n')).toContain(miss);
  });

  it('states how long switches took, and does not hold when one took too long', () => {
    const quick = { way: 'there', lastMs: 12 } as const;
    const slow = { way: 'back', lastMs: 100, sinceAskedMs: 301 } as const;
    expect(found({ switches: [quick] })).toEqual({ misses: [], stated: [expect.stringContaining('1 switches there')] });
    expect(found({ switches: [quick, slow] }).misses).toEqual([
      'gateway: the switch back took 301 ms, at most 300 were wanted',
    ]);
  });

  it('does not hold when the load alone was too much', () => {
    const failing = calmOf({ counted: [reset], orders: [], pace, k6Dropped: 90 }, balance);
    expect(evaluate({ calm: failing, services: [whole], audit, chosen }).misses).toEqual([
      'without restarts: 1 x no response: ECONNRESET (order, new connection, k6)',
      'without restarts: the rate was not held: 90 of about 200 orders were late or not sent',
    ]);
  });

  it('does not hold when the audit found something, or could not look', () => {
    const unknown = { verdict: 'unknown', orders: 2, violated: ['the broker is not running'] };
    expect(evaluate({ calm, services: [whole], audit: unknown, chosen }).misses).toEqual([
      'audit: unknown; the broker is not running',
    ]);
  });

  it('states what came late as long as the rate was held', () => {
    const { misses, stated } = found({ load: { ...pace, late: 1 } });
    expect([misses, stated]).toEqual([[], ['gateway: 1 orders were sent late, 0 were not sent']]);
  });

  it('in containers states resets of new connections to a gateway that ends, and nothing else', () => {
    const docker = { runtime: 'docker' } as const;
    expect(found(tallyOf([served, reset]), docker)).toMatchObject({ misses: [], stated: [expect.any(String)] });
    expect(found(tallyOf([served, { ...reset, connection: 'kept' }]), docker).misses).toHaveLength(1);
    expect(found(tallyOf([served, { ...reset, failure: '503 draining' }]), docker).misses).toHaveLength(1);
    expect(found({ ...tallyOf([served, reset]), service: 'orders' }, docker).misses).toHaveLength(1);
  });

  it('is a line for each service, a sum, and what does not hold', () => {
    const result: Result = {
      machine: { cpus: '2 x Some', memoryGb: 8, system: 'linux 6', node: 'v24', load1: 0.04 },
      chosen,
      calm,
      services: [whole, { ...whole, service: 'orders' }],
      audit,
      misses: ['something'],
      stated: [],
    };
    const text = renderRestarts(result);
    expect(text).toContain('| gateway | 1 (2) | 2 | 0, 0 | 2, 0 | 0 | 0, 0 | 1 of 1 | 4.0, 4.0 | 20, 20 |');
    expect(text).toContain('| without restarts |  | 1 | 0, 0 | 1, 0 | 0 | 0, 0 |  |  | 20, 20 |');
    expect(text).toContain('| all | 2 (4) | 4 | 0, 0 | 4, 0 | 0 | 0, 0 | 2 of 2 |');
    expect(text).toContain('missed: something');
    const many = renderRestarts({ ...result, misses: Array.from({ length: 21 }, (_, index) => `miss ${index}`) });
    expect(many.split('\n').slice(-2)).toEqual(['missed: miss 19', 'missed: and 1 more (all with --json)']);
  });
});
