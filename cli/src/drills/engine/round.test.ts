/*
 * Goal: a round is what its journal says: the same with a failure and without until it is over, and everything reverted after it.
 * Method: a shop of the test, and its timers.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cloneRoot } from '../../platform/project.ts';
import { findScenario, readScenarios } from '../format/catalog.ts';
import type { Scenario } from '../format/schema.ts';
import { brokenLink } from '../journal/chain.ts';
import { createDrillJournal, type DrillJournal } from '../journal/journal-file.ts';
import { recordsOf } from '../journal/records.ts';
import { isScore, type Score, scoreOf } from '../score/score.ts';
import { ENVELOPE_VERSION, type Envelope } from '../seal/envelope.ts';
import { FakeShop, timerClock } from '../testing/fake-shop.ts';
import { startRound } from './round.ts';
import type { Round, RoundSettings } from './round-types.ts';

const scenarios = await readScenarios(cloneRoot());

let folder: string;
let shop: FakeShop;
let journal: DrillJournal;
let round: Round;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-round-'));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  shop = new FakeShop();
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

function start(
  scenario: Scenario | string,
  settings: Partial<RoundSettings> & { readonly decoys?: Envelope['schedule']['decoys'] } = {},
) {
  const chosen = typeof scenario === 'string' ? findScenario(scenarios, scenario) : scenario;
  const envelope: Envelope = {
    version: ENVELOPE_VERSION,
    catalogDigest: '00',
    build: 'x',
    seed: '7',
    level: 2,
    candidates: [],
    scenario: chosen,
    schedule: { quietMs: 30_000, decoys: settings.decoys ?? [], loadSeed: '7' },
    nonce: '00',
  };
  journal = createDrillJournal(join(folder, 'journal.jsonl'), timerClock);
  const usual = { strength: 'practice', isSeedKnown: false, limitMs: 600_000, hints: true, trainee: 'ada' } as const;
  round = startRound({ ...usual, ...settings, envelope }, shop, journal);
}

const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000);
const typesOf = () => journal.records().map(({ type }) => type);
async function score(): Promise<Score> {
  await pass(15);
  await round.done;
  const result = scoreOf(journal.records());
  if (!isScore(result)) throw new Error(`${result.why}: ${result.reason}`);
  return result;
}
async function expectVoidBeforeInjection(reason: string): Promise<void> {
  expect(await round.done).toMatchObject({ why: 'void', reason });
  expect(typesOf()).not.toContain('injected');
}
const BLAME = { component: 'network:orders-payments', mechanism: 'slow', scope: 'all-orders' } as const;

describe('a round', () => {
  it('that is solved has 100 points, and a journal that nothing was done to', async () => {
    start('d201');
    await pass(60);
    round.record({ type: 'ack', alert: 'OrdersErrorBudgetBurn', by: 'ada' });
    await round.blame({ ...BLAME, references: ['trace:1'] }, 'ada');
    shop.isCured = true;
    round.record({
      type: 'action',
      change: 'reroute',
      target: 'orders-payments',
      from: 'primary',
      to: 'standby',
      by: 'ada',
    });
    round.fixed('ada');
    expect(round.status().phase).toBe('checking');
    await pass(70);
    expect(await score()).toMatchObject({ points: 100, ended: 'fixed' });
    expect(brokenLink(journal.records())).toBeUndefined();
    expect(shop.done).toEqual(['inject fault for 720000', 'revert: the round is over', 'restore']);
    expect(shop.faults.size).toBe(0);
  });

  it.each(['d201', 'd202'])(
    '%s has nothing in its journal that a round without a failure does not have, until it is over',
    async (id) => {
      const seen: unknown[] = [];
      for (const scenario of [id, 'd000']) {
        shop = new FakeShop();
        shop.isCured = true;
        start(scenario);
        await pass(120);
        const shown = journal
          .records()
          .map(({ hash: _, at: __, ...record }) => ('commitment' in record ? { ...record, commitment: '' } : record));
        seen.push({ shown, status: { ...round.status(), commitment: '' } });
        round.end('aborted', 'enough');
        await pass(15);
        await round.done;
        await rm(join(folder, 'journal.jsonl'));
        vi.setSystemTime(0);
      }
      expect(seen[1]).toEqual(seen[0]);
      expect(typesOf()).toContain('reveal');
    },
  );

  it('has every second in its journal also while something is injected, which a release takes some for', async () => {
    const inject = shop.inject.bind(shop);
    Object.assign(shop, {
      inject: async (...given: Parameters<FakeShop['inject']>) => {
        await timerClock.sleep(5_000, new AbortController().signal);
        return inject(...given);
      },
    });
    start('d201');
    await pass(60);
    round.end('aborted', 'enough');
    await pass(15);
    await round.done;
    const records = journal.records();
    const gaps = recordsOf(records, 'second').map(({ ms }, index, all) => ms - (all[index - 1]?.ms ?? 0));
    expect(Math.max(...gaps)).toBe(1_000);
    expect(recordsOf(records, 'injected')).toMatchObject([{ beganMs: 40_000, happenedMs: 45_000 }]);
  });

  it('goes on while what was injected is measured, which is noted at its time', async () => {
    shop.witnessMs = 9_000;
    start('d201');
    await pass(110);
    round.end('gave-up', 'enough');
    await pass(15);
    await round.done;
    const seconds = recordsOf(journal.records(), 'second').map(({ ms }) => ms);
    expect(seconds.every((ms, index) => index === 0 || ms - (seconds[index - 1] ?? 0) < 1_500)).toBe(true);
    const [injected] = recordsOf(journal.records(), 'injected');
    const [witnessed] = recordsOf(journal.records(), 'witnessed');
    expect((witnessed?.happenedMs ?? 0) - (injected?.happenedMs ?? 0)).toBe(9_000);
  });

  it('without a failure ends with an all-clear', async () => {
    start('d000');
    await pass(20);
    for (const source of ['logs', 'traces', 'status']) round.record({ type: 'look', source });
    await pass(61);
    round.allClear('ada');
    expect(await score()).toMatchObject({ points: 100, ended: 'all-clear' });
  });

  it.each([
    ['fixed', () => round.fixed('ada')],
    ['an all-clear', () => round.allClear('ada')],
  ])('that has not begun is not ended by %s', async (_what, act) => {
    start('d201');
    await pass(5);
    expect(act).toThrow(expect.objectContaining({ code: 'drill_not_begun' }));
    await pass(55);
    expect(round.status().phase).toBe('on-call');
    expect(shop.faults.size).toBe(1);
  });

  it('goes on when customers are not served after fixed', async () => {
    start('d201');
    await pass(60);
    round.fixed('ada');
    await pass(30);
    expect(round.status().phase).toBe('on-call');
    expect(typesOf()).not.toContain('proof');
    await pass(600);
    expect(await score()).toMatchObject({ ended: 'limit', points: 15 });
  });

  it('has a failure that ends early where its scenario says so', async () => {
    start('d002');
    await pass(45);
    expect(shop.faults.size).toBe(1);
    await pass(8);
    expect([shop.faults.size, shop.done]).toEqual([0, ['inject fault for 8000', 'revert: its time was over']]);
  });

  it.each([
    ['one order that met a busy second', 1, true],
    ['each of three orders', 3, false],
  ])('takes another order as its proof after %s', async (_what, missing, isProved) => {
    start('d201');
    let proofs = 0;
    Object.assign(shop, {
      prove: async () => ({ status: 'Confirmed', spans: ++proofs > missing ? 31 : 33, expectedSpans: 31 }),
    });
    await pass(60);
    shop.isCured = true;
    round.record({
      type: 'action',
      change: 'reroute',
      target: 'orders-payments',
      from: 'primary',
      to: 'standby',
      by: 'ada',
    });
    round.fixed('ada');
    await pass(70);
    const mitigate = (await score()).parts.find(({ name }) => name === 'mitigate');
    expect([mitigate?.points, recordsOf(journal.records(), 'proof').length]).toEqual(isProved ? [30, 2] : [0, 3]);
  });

  it('whose telemetry is lost has it back for the proof, and nothing else', async () => {
    start('d503');
    await pass(60);
    shop.isCured = true;
    round.fixed('ada');
    await pass(75);
    await round.done;
    const reverts = journal.records().filter(({ type }) => type === 'reverted');
    expect(reverts).toMatchObject([{ index: 0, why: 'the proof needs telemetry' }]);
    expect(shop.done.filter((one) => one.startsWith('revert'))).toEqual([
      'revert: the proof needs telemetry',
      'revert: the round is over',
    ]);
  });

  it('has decoys at their times after the injection, the page and the acknowledgement', async () => {
    const decoy = (after: 'injection' | 'page' | 'ack', target: string) => ({
      after,
      delayMs: 5_000,
      do: 'restart' as const,
      target,
    });
    start('d201', { decoys: [decoy('injection', 'catalog'), decoy('page', 'stock'), decoy('ack', 'payments')] });
    await pass(50);
    expect(shop.done.slice(1)).toEqual(['restart catalog']);
    round.record({ type: 'page', alert: 'OrdersErrorBudgetBurn', state: 'firing' });
    await pass(7);
    round.record({ type: 'ack', alert: 'OrdersErrorBudgetBurn', by: 'ada' });
    await pass(4);
    expect(shop.done.slice(1)).toEqual(['restart catalog', 'restart stock']);
    await pass(3);
    expect(shop.done.slice(1)).toEqual(['restart catalog', 'restart stock', 'restart payments']);
  });

  it('restores the platform after a decoy that is on its way', async () => {
    const decoy = shop.decoy.bind(shop);
    Object.assign(shop, {
      decoy: async (what: string, target: string) => {
        await timerClock.sleep(8_000, new AbortController().signal);
        return decoy(what, target);
      },
    });
    start('d201', { decoys: [{ after: 'injection', delayMs: 0, do: 'restart', target: 'catalog' }] });
    await pass(42);
    round.end('gave-up', 'enough');
    await pass(15);
    await round.done;
    expect(shop.done).toEqual(['inject fault for 720000', 'restart catalog', 'revert: the round is over', 'restore']);
  });

  it('has decoys after the page of its failure, not after one of the start of the platform', async () => {
    start('d201', { decoys: [{ after: 'page', delayMs: 5_000, do: 'restart', target: 'shipping' }] });
    for (const state of ['firing', 'resolved'] as const) {
      round.record({ type: 'page', alert: 'OrdersLatencyBudgetBurn', state });
    }
    await pass(60);
    expect(shop.done).toEqual(['inject fault for 720000']);
    round.record({ type: 'page', alert: 'OrdersErrorBudgetBurn', state: 'firing' });
    await pass(7);
    expect(shop.done.slice(1)).toEqual(['restart shipping']);
  });

  it('has a load that rises until customers notice it, and stays as it is when they are served again', async () => {
    start('d502');
    const sent = () => recordsOf(journal.records(), 'second').at(-1)?.sent;
    await pass(40);
    expect(sent()).toBeCloseTo(8, -1);
    await pass(3);
    expect(sent()).toBeGreaterThan(25);
    await pass(12);
    expect(sent()).toBeGreaterThan(50);
    shop.isBroken = true;
    await pass(12);
    const reached = sent() ?? 0;
    shop.isBroken = false;
    await pass(30);
    expect(sent()).toBeLessThanOrEqual(reached);
    round.end('gave-up', 'enough');
    await pass(15);
    await round.done;
    const [witnessed] = recordsOf(journal.records(), 'witnessed');
    expect(witnessed?.evidence).toMatch(/^customers notice orders at \d+\.\d times the rate$/);
  });

  it.each([0, 1, 2, 3])('has a load that rises on after one bad second, at any time (%i)', async (phase) => {
    start('d502');
    await pass(41 + phase);
    shop.isBroken = true;
    await pass(1);
    shop.isBroken = false;
    await pass(20);
    const sent = () => recordsOf(journal.records(), 'second').at(-1)?.sent ?? 0;
    const before = sent();
    await pass(10);
    expect(sent()).toBeGreaterThan(before * 1.3);
    round.end('gave-up', 'enough');
    await pass(15);
    await round.done;
    expect(typesOf()).not.toContain('witnessed');
  });

  it('has no witness for a load that customers do not notice', async () => {
    start('d502');
    await pass(45);
    round.end('gave-up', 'enough');
    await pass(15);
    await round.done;
    expect(typesOf()).toContain('injected');
    expect(typesOf()).not.toContain('witnessed');
  });

  it('gives hints one after the other, with their costs before', async () => {
    start('d201');
    await pass(60);
    expect(round.nextHint()).toMatchObject({ stage: 'detect', cost: 3 });
    round.takeHint();
    round.takeHint();
    expect(round.status().hintPoints).toBe(8);
    round.takeHint();
    expect(round.nextHint()).toBeUndefined();
    expect(() => round.takeHint()).toThrow('there is no other hint');
  });

  it('takes three diagnoses, and none of which the evidence does not exist', async () => {
    start('d201');
    await pass(60);
    await expect(round.blame({ ...BLAME, references: ['log:none'] }, 'ada')).rejects.toMatchObject({ exitCode: 2 });
    expect(round.status().tries).toBe(0);
    for (let time = 0; time < 3; time++) await round.blame({ ...BLAME, references: [] }, 'ada');
    await expect(round.blame({ ...BLAME, references: [] }, 'ada')).rejects.toMatchObject({ exitCode: 2 });
    expect(typesOf().filter((type) => type === 'blame')).toHaveLength(3);
  });

  it.each<[string, () => unknown, number, RegExp]>([
    [
      'the platform is not steady',
      () => Object.assign(shop, { isBroken: true }),
      121,
      /not steady within 120 s: \d+ of \d+ orders failed/,
    ],
    [
      'an alert fires before it',
      () => Object.assign(shop, { alerts: ['OutboxStalled'] }),
      121,
      /not steady within 120 s: OutboxStalled/,
    ],
    [
      'an alert has ended too late',
      () => {
        shop.alerts = ['OutboxStalled'];
        setTimeout(() => Object.assign(shop, { alerts: [] }), 115_000);
      },
      121,
      /not steady within 120 s: OutboxStalled/,
    ],
    [
      'the injection fails',
      () => Object.assign(shop, { inject: () => Promise.reject(new Error('no proxy')) }),
      60,
      /was not: no proxy/,
    ],
    [
      'a decoy fails',
      () => Object.assign(shop, { decoy: () => Promise.reject(new Error('not ready')) }),
      60,
      /a decoy failed: not ready/,
    ],
  ])('is void when %s, and has no score', async (_, prepare, seconds, reason) => {
    prepare();
    start('d201', { decoys: [{ after: 'injection', delayMs: 0, do: 'restart', target: 'catalog' }] });
    await pass(seconds);
    await pass(15);
    expect(await round.done).toMatchObject({ why: 'void', reason: expect.stringMatching(reason) });
    expect(scoreOf(journal.records())).toMatchObject({ why: 'void' });
    expect(shop.faults.size).toBe(0);
  });

  it('is void when an alert is acknowledged before its failure', async () => {
    start('d201');
    await pass(5);
    round.record({ type: 'ack', alert: 'OrdersLatencyBudgetBurn', by: 'ada' });
    await pass(15);
    expect(round.status().phase).toBe('on-call');
    round.record({ type: 'ack', alert: 'OrdersErrorBudgetBurn', by: 'ada' });
    await pass(15);
    await expectVoidBeforeInjection('the platform was not steady: OrdersErrorBudgetBurn fired in the quiet time');
  });

  it('is void when its metric shows the symptom before its failure', async () => {
    start('d202');
    await pass(20);
    Object.assign(shop, { measure: async () => 1 });
    await pass(15);
    await expectVoidBeforeInjection('the platform was not steady: the metric is 1, above 0');
  });

  it('is void when the clock jumps, as after a sleep of the machine', async () => {
    start('d201');
    await pass(50);
    vi.setSystemTime(Date.now() + 6_000);
    await pass(20);
    expect(await round.done).toMatchObject({ why: 'void', reason: expect.stringMatching(/^the clock jumped by 7/) });
  });

  it('begins once the alerts of a platform that was slow to start have ended', async () => {
    shop.alerts = ['OrdersLatencyBudgetBurn'];
    start('d201');
    await pass(90);
    expect(round.status().phase).toBe('starting');
    shop.alerts = [];
    await pass(11);
    expect(round.status().phase).toBe('on-call');
  });

  it('reports what could not be reverted', async () => {
    shop.leftovers = ['orders-payments is rerouted'];
    start('d201');
    await pass(60);
    round.end('gave-up', 'enough');
    await pass(15);
    expect(await round.done).toMatchObject({ why: 'gave-up', left: ['orders-payments is rerouted'] });
  });

  it('that is over takes nothing any more', async () => {
    start('d201');
    await pass(60);
    round.end('aborted', 'enough');
    await pass(15);
    await round.done;
    for (const act of [
      () => round.fixed('ada'),
      () => round.allClear('ada'),
      () => round.record({ type: 'note', text: 'late', by: 'ada' }),
    ]) {
      expect(act).toThrow('the round is over');
    }
    expect(typesOf().at(-1)).toBe('closed');
  });
});
