/*
 * Goal: a situation is carried out part by part, and what makes its measurement worthless is in its record.
 * Method: a clock that a sleep moves on, a load of values, and a pager whose history the test writes.
 */
import { expect, it } from 'vitest';
import type { PagerEvent } from '../../pager/page-event.ts';
import type { MixedLoad } from '../mixed-load.ts';
import { measureSituation, type SituationPorts } from './measure-situation.ts';
import type { Situation } from './situations.ts';

const STARTED = Date.parse('2026-11-24T09:00:00.000Z');

const situation: Situation = {
  name: 'suspended',
  parts: [
    { forMs: 60_000, rate: 10 },
    { forMs: 600_000, rate: 0, meanwhile: 'suspend' },
    { forMs: 120_000, rate: 10, mix: 'declines' },
  ],
};
/** Seconds that the platform runs, with those after the last part. */
const RAN_S = 60 + 120 + 20;

function surroundings(more: Partial<SituationPorts> = {}) {
  const did: string[] = [];
  let now = 8_000; // The start of the platform took so long.
  const interruption = new AbortController();
  const ports: SituationPorts = {
    platform: 'shop-chaos',
    startedAt: STARTED,
    clock: {
      now: () => now,
      date: () => new Date(STARTED + now),
      async sleep(ms, signal) {
        signal.throwIfAborted();
        now += ms;
      },
    },
    signal: interruption.signal,
    startLoad: ({ rate, mix }, number) => aLoad(`${number}: ${rate} ${mix ?? 'mixed'}`),
    disturb: async (disturbance, forMs) => void did.push(`${disturbance} ${forMs}`),
    pager: { history: async () => [] },
    shippedAt: async (ids) => new Map(ids.map((id) => [id, STARTED])),
    scrapes: async () => RAN_S,
    ...more,
  };
  function aLoad(what: string, late = 0): MixedLoad {
    did.push(what);
    const order = { sentAt: STARTED + now, tookMs: 20, http: 201, id: what, status: 'Confirmed' } as const;
    return {
      startedAt: STARTED + now,
      outcomes: [order],
      sent: { sent: 100, late },
      stop: async () => void did.push('stop'),
    };
  }
  return { ports, did, interruption, aLoad };
}

it('carries out the parts in their order, each with its orders', async () => {
  const { ports, did } = surroundings();
  const record = await measureSituation(situation, ports);
  expect(did).toEqual(['0: 10 mixed', 'stop', 'suspend 600000', '2: 10 declines', 'stop']);
  expect(record).toMatchObject({ orders: 200, shipments: { confirmed: 2, late: 0, missing: 0 }, problems: [] });
  expect(record.endedMs).toBe(8_000 + 60_000 + 600_000 + 120_000 + 20_000);
  // By the start of the platform, as its firings.
  expect(record.seconds.findIndex(([responses]) => responses > 0)).toBe(8);
});

it('counts alerts from the start of the platform on', async () => {
  const fired = {
    type: 'fired',
    sequence: 1,
    time: new Date(STARTED + 5_000).toISOString(),
    fingerprint: 'f',
    alertname: 'OutboxStalled',
    severity: 'page',
    labels: {},
  } as unknown as PagerEvent;
  const { ports } = surroundings({ pager: { history: async () => [fired] } });
  expect((await measureSituation(situation, ports)).firings).toEqual([
    { alertname: 'OutboxStalled', severity: 'page', firedMs: 5_000 },
  ]);
});

it.each<[string, (own: ReturnType<typeof surroundings>) => Partial<SituationPorts>, string]>([
  [
    'orders that were sent late',
    ({ aLoad }) => ({ startLoad: () => aLoad('late', 6) }),
    '12 of 200 orders were sent late: the machine is too busy',
  ],
  [
    'scrapes that did not take place',
    () => ({ scrapes: async () => 0.8 * RAN_S }),
    'Prometheus had 80 % of its scrapes',
  ],
  [
    'a disturbance that failed',
    () => ({
      disturb: async () => {
        throw new Error('orders did not start');
      },
    }),
    'orders did not start',
  ],
  [
    'shipments that cannot be read',
    () => ({
      shippedAt: async () => {
        throw new Error('no connection');
      },
    }),
    'the shipments cannot be read: no connection',
  ],
])('notes %s', async (_, change, problem) => {
  const own = surroundings();
  const record = await measureSituation(situation, { ...own.ports, ...change(own) });
  expect(record.problems).toContain(problem);
});

it('ends with an interruption, when its load and its disturbance have ended', async () => {
  const own = surroundings();
  const disturb = async () => {
    own.interruption.abort();
    own.did.push('continued');
    own.ports.signal.throwIfAborted();
  };
  const busy = { name: 'busy', parts: [{ forMs: 1_000, rate: 1, meanwhile: 'suspend' }] } as const;
  await expect(measureSituation(busy, { ...own.ports, disturb })).rejects.toMatchObject({ name: 'AbortError' });
  expect(own.did).toEqual(['0: 1 mixed', 'continued', 'stop']);
});
