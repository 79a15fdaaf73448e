/*
 * Goal: rubric v1 is what docs/drills.md says, one rule a row.
 * Method: journals of a round whose failure begins at 30 s; customers notice within a second. Orders fail until the row cures it.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../../platform/project.ts';
import { findScenario, readScenarios } from '../format/catalog.ts';
import { parseDrillJournal } from '../journal/journal-file.ts';
import type { DrillEvent } from '../journal/records.ts';
import { aJournal, type Happening, type JournalOptions } from '../testing/a-journal.ts';
import { isScore, type Score, scoreOf } from './score.ts';

const scenarios = await readScenarios(cloneRoot());
const d201 = findScenario(scenarios, 'd201');
const by = 'ada';

const ack = (second: number): Happening => [second, { type: 'ack', alert: 'OrdersErrorBudgetBurn', by }];
const declare = (second: number): Happening => [second, { type: 'declare', text: 'orders fail', by }];
const blame = (second: number, part: Partial<Extract<DrillEvent, { type: 'blame' }>> = {}): Happening => [
  second,
  {
    type: 'blame',
    component: 'network:orders-payments',
    mechanism: 'slow',
    scope: 'all-orders',
    evidence: [{ reference: 'trace:4bf92f35', happenedMs: 40_000, touches: ['payments'] }],
    by,
    ...part,
  },
];
const action = (second: number, part: Partial<Extract<DrillEvent, { type: 'action' }>> = {}): Happening => [
  second,
  { type: 'action', change: 'reroute', target: 'orders-payments', from: 'primary', to: 'standby', by, ...part },
];
const restart = (second: number, target: string) =>
  action(second, { change: 'restart', target, from: 'ready', to: 'ready' });
const hint = (stage: 'detect' | 'locate' | 'mitigate'): Happening => [50, { type: 'hint', stage }];
const proof = (second: number, spans = 31, status = 'Confirmed'): Happening => [
  second,
  { type: 'proof', status, spans, expectedSpans: 31 },
];
const audit = (lost: number, doubled: number): Happening => [399, { type: 'audit', lost, doubled }];

/** Detected after 20 s, diagnosed, cured after 60 s, proved. */
const SOLVED = [ack(50), blame(60), action(90), proof(160)];
const CURED: Partial<JournalOptions> = { failing: [[30, 92]], ended: 'fixed' };

function scored(happenings: readonly Happening[], options: Partial<JournalOptions> = CURED): Score {
  const result = scoreOf(aJournal({ scenario: d201, happenings, ...options }));
  if (!isScore(result)) throw new Error(`not scored: ${result.reason}`);
  return result;
}
const pointsOf = (score: Score) => Object.fromEntries(score.parts.map(({ name, points }) => [name, points]));
const lossesOf = (score: Score, part: string) => score.parts.find(({ name }) => name === part)?.losses ?? [];

describe('rubric v1', () => {
  it('gives 100 for a round in which nothing is missing', () => {
    const score = scored(SOLVED);
    expect(score).toMatchObject({ rubric: 'v1', scenario: 'd201', ended: 'fixed', points: 100 });
    expect(score.clocks).toEqual({
      injectedMs: 30_000,
      witnessedMs: 30_000,
      symptomMs: 30_000,
      detectedMs: 50_000,
      diagnosedMs: 60_000,
      leverMs: 90_000,
      recoveredMs: 96_000,
      endMs: 400_000,
    });
  });

  it('gives 15 for doing nothing: that nothing was disturbed', () => {
    expect(pointsOf(scored([], { ended: 'limit' }))).toEqual({ detect: 0, diagnose: 0, mitigate: 0, safety: 15 });
  });

  it('has all points of a part either reached or lost, with a reason and a record', () => {
    for (const happenings of [SOLVED, [], [ack(200)], [restart(40, 'stock'), ...SOLVED]]) {
      const { parts, points } = scored(happenings);
      expect(points).toBe(parts.reduce((sum, part) => sum + part.points, 0));
      for (const { of, points: reached, losses } of parts) {
        expect(losses.reduce((sum, loss) => sum + loss.points, reached)).toBe(of);
        for (const { reason, evidence } of losses)
          expect([reason, evidence.length > 0]).toEqual([expect.stringMatching(/\w/), true]);
      }
    }
  });

  describe('detect, 20 points', () => {
    it.each([
      ['within 30 s of the symptom', [ack(60)], 20],
      ['after 165 s', [ack(195)], 10],
      ['after 300 s', [ack(330)], 0],
      ['by an incident that was declared', [declare(60)], 20],
      ['by the first of both', [ack(195), declare(60)], 20],
      ['not by one that came before the failure', [declare(10)], 0],
      ['less 3 for the hint', [ack(60), hint('detect')], 17],
    ])('%s', (_, happenings, points) => {
      expect(pointsOf(scored(happenings)).detect).toBe(points);
    });
  });

  it('detects what an injection does before it is done', () => {
    const journal = aJournal({ scenario: d201, happenings: [ack(29), ...SOLVED.slice(1)], ...CURED });
    const slow = journal.map((record) => (record.type === 'injected' ? { ...record, beganMs: 22_000 } : record));
    const result = scoreOf(slow);
    expect(isScore(result) && pointsOf(result).detect).toBe(20);
  });

  describe('diagnose, 35 points', () => {
    const late = [{ reference: 'trace:1', happenedMs: 20_000, touches: ['payments'] }];
    const elsewhere = [{ reference: 'trace:1', happenedMs: 40_000, touches: ['shipping'] }];
    it.each<[string, readonly Happening[], number]>([
      ['for component, mechanism and scope', [blame(60)], 35],
      ['15 for the component', [blame(60, { mechanism: 'lock', scope: 'none' })], 15],
      ['5 for one beside it, 12 for the mechanism, 8 for the scope', [blame(60, { component: 'orders' })], 25],
      ['4 for a mechanism of the same family', [blame(60, { mechanism: 'overload' })], 27],
      [
        'none for the scope alone, less 5 for the wrong component',
        [blame(60, { component: 'stock', mechanism: 'lock' })],
        3,
      ],
      ['half for a diagnosis that the scenario accepts so', [blame(60, { component: 'payments' })], 21.5],
      ['25 without evidence', [blame(60, { evidence: [] })], 25],
      ['25 with evidence from before the symptom', [blame(60, { evidence: late })], 25],
      ['25 with evidence of something else', [blame(60, { evidence: elsewhere })], 25],
      ['less 5 for one that was wrong before', [blame(50, { component: 'stock', mechanism: 'lock' }), blame(60)], 30],
      [
        'not for a fourth try',
        [...[51, 52, 53].map((at) => blame(at, { component: 'stock', mechanism: 'lock', scope: 'none' })), blame(60)],
        0,
      ],
      ['less 5 for the hint', [blame(60), hint('locate')], 30],
    ])('%s', (_, happenings, points) => {
      expect(pointsOf(scored(happenings)).diagnose).toBe(points);
    });

    it.each<[string, number, number]>([
      ['35 with evidence from the second in which customers noticed', 49_200, 35],
      ['25 with evidence from before that second', 48_900, 25],
    ])('%s', (_, happenedMs, points) => {
      const evidence = [{ reference: 'trace:1', happenedMs, touches: ['payments'] }];
      expect(pointsOf(scored([blame(60, { evidence })], { ...CURED, failing: [[50, 92]] })).diagnose).toBe(points);
    });

    it.each<[string, number, number]>([
      ['35 with a page that came before customers noticed', 40, 35],
      ['25 with a page from before the failure', 29, 25],
    ])('%s', (_, second, points) => {
      const page: Happening = [second, { type: 'page', alert: 'OrdersErrorBudgetBurn', state: 'firing' }];
      const evidence = [{ reference: 'alert:OrdersErrorBudgetBurn', happenedMs: 41_000, touches: ['payments'] }];
      const happenings = [page, blame(41, { evidence })];
      expect(pointsOf(scored(happenings, { ...CURED, failing: [[50, 92]] })).diagnose).toBe(points);
    });

    it('of two independent failures, half for each', () => {
      const scenario = findScenario(scenarios, 'd501');
      const shipping = blame(70, {
        component: 'shipping',
        mechanism: 'frozen',
        scope: 'shipments-only',
        evidence: [{ reference: 'log:shipping-1', happenedMs: 40_000, touches: ['shipping'] }],
      });
      expect(pointsOf(scored([blame(60), shipping], { ...CURED, scenario })).diagnose).toBe(35);
      expect(pointsOf(scored([blame(60)], { ...CURED, scenario })).diagnose).toBe(17.5);
    });
  });

  describe('mitigate, 30 points', () => {
    it.each<[string, readonly Happening[], Partial<JournalOptions>, number]>([
      ['when customers are served for a minute by an action, and an order proves it', SOLVED, CURED, 30],
      [
        '20 in the middle between 5 min and the limit',
        [...SOLVED, proof(690)],
        { failing: [[30, 610]], endsAt: 700, limitMs: 900_000 },
        20,
      ],
      [
        'none while customers fail again within the minute',
        SOLVED,
        {
          failing: [
            [30, 92],
            [150, 400],
          ],
        },
        0,
      ],
      ['none without an action', [ack(50), blame(60), proof(160)], CURED, 0],
      [
        'by an action that was begun before customers were served, and done after that',
        [action(100, { change: 'restart', target: 'payments', beganMs: 90_000 }), proof(170)],
        CURED,
        30,
      ],
      ['none for one that was begun after that', [action(100, { beganMs: 98_000 }), proof(170)], CURED, 0],
      ['none for an action that failed', [action(90, { failed: 'unknown_edge' }), proof(160)], CURED, 0],
      ['none without an order that proves it', [action(90)], CURED, 0],
      ['none for an order with a missing span', [action(90), proof(160, 30)], CURED, 0],
      ['none for an order that was cancelled', [action(90), proof(160, 31, 'Cancelled')], CURED, 0],
      [
        'by another action than those of the scenario',
        [action(90, { change: 'scale', target: 'payments', from: '1', to: '2' }), proof(160)],
        CURED,
        30,
      ],
      ['none after an all-clear', SOLVED, { ...CURED, ended: 'all-clear' }, 0],
      ['less 8 for the hint', [...SOLVED, hint('mitigate')], CURED, 22],
    ])('%s', (_, happenings, options, points) => {
      expect(pointsOf(scored(happenings, options)).mitigate).toBe(points);
    });

    it('none when the failure ended without the trainee', () => {
      const reverted: Happening = [
        91,
        { type: 'reverted', index: 0, why: 'its time to live expired', happenedMs: 91_000 },
      ];
      const score = scored([...SOLVED, reverted]);
      expect(lossesOf(score, 'mitigate')).toMatchObject([
        { points: 30, reason: 'it ended without the trainee: its time to live expired' },
      ]);
    });
  });

  describe('safety, 15 points', () => {
    it.each<[string, readonly Happening[], number]>([
      ['less 5 for a needless action', [restart(70, 'stock'), ...SOLVED], 10],
      ['less 5 for each', [restart(70, 'stock'), restart(75, 'catalog'), ...SOLVED], 5],
      [
        'never below 0',
        ['stock', 'catalog', 'gateway', 'orders'].map((name, at) => restart(70 + at, name)).concat(SOLVED),
        0,
      ],
      [
        'nothing for one that was reverted within 30 s',
        [
          action(65, { target: 'orders-stock' }),
          action(80, { target: 'orders-stock', from: 'standby', to: 'primary' }),
          ...SOLVED,
        ],
        15,
      ],
      [
        'but once',
        [65, 75]
          .flatMap((at, index) => [
            action(at, { target: `orders-${['stock', 'catalog'][index]}` }),
            action(at + 4, { target: `orders-${['stock', 'catalog'][index]}`, from: 'standby', to: 'primary' }),
          ])
          .concat(SOLVED),
        10,
      ],
      [
        'less 5 for one that was reverted later',
        [
          action(50, { target: 'orders-stock' }),
          action(85, { target: 'orders-stock', from: 'standby', to: 'primary' }),
          ...SOLVED,
        ],
        10,
      ],
      [
        'nothing for an action that failed',
        [action(70, { change: 'stop', target: 'x', failed: 'unknown_service' }), ...SOLVED],
        15,
      ],
      ['nothing for what does not disturb', [action(70, { change: 'acknowledge' }), ...SOLVED], 15],
      ['less 2 for each order that was lost or doubled', [audit(1, 2), ...SOLVED], 9],
      [
        'less 10 for discarding evidence',
        [
          action(70, { change: 'dead-letter', target: '7c9e6679', from: 'shipping.order-confirmed', to: 'discarded' }),
          ...SOLVED,
        ],
        5,
      ],
    ])('%s', (_, happenings, points) => {
      expect(pointsOf(scored(happenings)).safety).toBe(points);
    });
  });

  describe('customers', () => {
    const symptomOf = (seconds: readonly Happening[]) =>
      scoreOf(aJournal({ scenario: d201, failing: [], happenings: seconds }));
    const second = (at: number, part: object): Happening => [
      at,
      { type: 'second', sent: 0, good: 0, failed: 0, slow: 0, overdue: 0, ...part },
    ];
    it.each<[string, object, boolean]>([
      ['one failed order is none', { failed: 1 }, false],
      ['two are', { failed: 2 }, true],
      ['two slow orders of about 40 are none', { slow: 2 }, false],
      ['three are', { slow: 3 }, true],
      ['an overdue shipment is one', { overdue: 1 }, true],
      ['orders that are shed beside the usual ones are none', { shed: 30 }, false],
    ])('notice a symptom: %s', (_, part, isSymptom) => {
      expect(isScore(symptomOf([second(60.5, part)]))).toBe(isSymptom);
    });

    it('notice that no response comes at all', () => {
      const scenario = d201;
      const quiet = Array.from(
        { length: 60 },
        (_, at): Happening => [at, { type: 'second', sent: 8, good: at < 35 ? 8 : 0, failed: 0, slow: 0, overdue: 0 }],
      );
      const records = aJournal({ scenario, happenings: quiet, endsAt: 0.5, failing: [], injectedAt: 30 });
      expect(scoreOf(records)).toMatchObject({ clocks: { symptomMs: 40_000 - 1_000 } });
    });

    it('notice that orders are shed instead of served', () => {
      const seconds = Array.from({ length: 60 }, (_, at): Happening => {
        const shed = at < 35 ? 0 : 2;
        return [at, { type: 'second', sent: 8, good: 8 - shed, failed: 0, slow: 0, overdue: 0, shed }];
      });
      const records = aJournal({ scenario: d201, happenings: seconds, endsAt: 0.5, failing: [], injectedAt: 30 });
      expect(scoreOf(records)).toMatchObject({ clocks: { symptomMs: 35_000 } });
    });

    it('do not notice what a metric shows; its scenario counts from the metric', () => {
      const scenario = findScenario(scenarios, 'd304');
      // The start is the first record, each second before it the next.
      const measured: Happening = [399, { type: 'measured', values: [[63, 3]] }];
      const happenings = [second(60.5, {}), measured];
      const result = scoreOf(aJournal({ scenario, failing: [], happenings }));
      expect(result).toMatchObject({ clocks: { symptomMs: 60_500 } });
      expect(isScore(scoreOf(aJournal({ scenario: d201, failing: [], happenings })))).toBe(false);
    });
  });

  describe('a round without a failure', () => {
    const d000 = findScenario(scenarios, 'd000');
    const look = (at: number, source: string): Happening => [at, { type: 'look', source }];
    const LOOKED = [look(60, 'logs'), look(70, 'traces'), look(80, 'status')];
    const clear = (at: number): Happening => [at, { type: 'all-clear', by }];
    it.each<[string, readonly Happening[], number]>([
      ['100 for an all-clear after a minute with three sources', [...LOOKED, clear(121)], 100],
      ['65 for one that came sooner', [...LOOKED, clear(119)], 65],
      ['65 for one after two sources', [look(10, 'logs'), look(20, 'traces'), clear(121)], 65],
      ['70 with an incident that was declared', [...LOOKED, declare(90), clear(121)], 70],
      ['35 when anything was blamed', [...LOOKED, blame(90), clear(121)], 35],
      ['95 with a needless restart', [...LOOKED, restart(90, 'stock'), clear(121)], 95],
      ['20 without a decision', LOOKED, 20],
      ['20 without a decision at most, whatever else', [blame(90)], 20],
      ['0 at least', [blame(90), declare(95)], 5],
    ])('%s', (_, happenings, points) => {
      expect(scored(happenings, { scenario: d000 }).points).toBe(points);
    });
  });

  describe('has no score', () => {
    it.each<[string, Partial<JournalOptions>, object]>([
      ['of a void round', { ended: 'void' }, { why: 'void', reason: 'the time was over' }],
      ['of an aborted one', { ended: 'aborted' }, { why: 'aborted' }],
      [
        'of a failure that customers did not notice',
        { failing: [] },
        { why: 'void', reason: 'what was injected had no symptom' },
      ],
    ])('%s', (_, options, expected) => {
      expect(scoreOf(aJournal({ scenario: d201, ...options }))).toMatchObject(expected);
    });

    it('of a failure that was never witnessed, or never injected', () => {
      const journal = aJournal({ scenario: d201 });
      const without = (...types: string[]) => scoreOf(journal.filter(({ type }) => !types.includes(type)));
      expect(without('witnessed')).toMatchObject({ why: 'void', reason: 'what was injected was never witnessed' });
      expect(without('injected', 'witnessed')).toMatchObject({ why: 'void', reason: 'nothing was injected' });
      expect(without('end')).toMatchObject({ why: 'running' });
    });
  });
});

it('the same journal has the same score in another process, and in another serialisation', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shop-score-'));
  try {
    const journal = aJournal({ scenario: d201, happenings: [restart(70, 'stock'), ack(195), ...SOLVED], ...CURED });
    const file = join(folder, 'journal.jsonl');
    await writeFile(file, journal.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const here = join(import.meta.dirname);
    const program = `
      const { readDrillJournal } = await import(${JSON.stringify(join(here, '../journal/journal-file.ts'))});
      const { scoreOf } = await import(${JSON.stringify(join(here, 'score.ts'))});
      const { records } = await readDrillJournal(${JSON.stringify(file)});
      console.log(JSON.stringify(scoreOf(records)));`;
    const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
    const expected = JSON.stringify(scoreOf(journal));
    expect((await run()).stdout.trim()).toBe(expected);
    const shuffled = journal.map((record) => JSON.stringify(Object.fromEntries(Object.entries(record).toReversed())));
    const again = scoreOf(parseDrillJournal(`${shuffled.join('\n')}\n`).records);
    expect(JSON.stringify(again)).toBe(expected);
    for (let time = 0; time < 100; time++) expect(JSON.stringify(scoreOf(structuredClone(journal)))).toBe(expected);
  } finally {
    await rm(folder, { recursive: true });
  }
});
