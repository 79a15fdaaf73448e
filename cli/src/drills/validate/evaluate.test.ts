/*
 * Goal: a scenario is admitted only where a round shows everything that its file says.
 * Method: journals of rounds; each row breaks one claim, and that check alone fails.
 */
import { expect, it } from 'vitest';
import { cloneRoot } from '../../platform/project.ts';
import { findScenario, readScenarios } from '../format/catalog.ts';
import { candidatesOf } from '../seal/draw.ts';
import { seal } from '../seal/envelope.ts';
import { aJournal, type Happening, type JournalOptions } from '../testing/a-journal.ts';
import { type EvaluatedRound, evaluateRound } from './evaluate.ts';

const scenarios = await readScenarios(cloneRoot());
const by = 'reference';

const SOLVED: readonly Happening[] = [
  [38, { type: 'page', alert: 'OrdersErrorBudgetBurn', state: 'firing' }],
  [40, { type: 'ack', alert: 'OrdersErrorBudgetBurn', by }],
  [
    45,
    {
      type: 'blame',
      component: 'network:orders-payments',
      mechanism: 'slow',
      scope: 'all-orders',
      evidence: [{ reference: 'trace:4bf92f35', happenedMs: 80_000, touches: ['payments'] }],
      by,
    },
  ],
  [50, { type: 'action', change: 'reroute', target: 'orders-payments', from: 'primary', to: 'standby', by }],
  [130, { type: 'proof', status: 'Confirmed', spans: 31, expectedSpans: 31 }],
];

/** A round of d201 that shows everything. */
function aRound(options: Partial<JournalOptions> = {}, part: Partial<EvaluatedRound> = {}): EvaluatedRound {
  const scenario = findScenario(scenarios, 'd201');
  const candidates = candidatesOf(scenarios, 2, { hasDeploy: false }).filter(({ id }) => id === 'd201');
  const envelope = seal(scenarios, { seed: '7', level: 2, candidates, build: 'x' });
  const records = aJournal({
    scenario,
    envelope,
    happenings: SOLVED,
    failing: [[30, 52]],
    endsAt: 140,
    ended: 'fixed',
    ...options,
  });
  return {
    scenario,
    journal: { records, isTorn: false },
    played: [],
    leaks: { found: [], surfaces: 40, unread: [] },
    left: [],
    scenarios,
    ...part,
  };
}

const badOf = (round: EvaluatedRound) =>
  evaluateRound(round)
    .filter(({ verdict }) => verdict !== 'pass')
    .map(({ id, verdict, evidence }) => [id, verdict, evidence]);

it('admits a round that shows everything', () => {
  expect(badOf(aRound())).toEqual([]);
  expect(evaluateRound(aRound()).map(({ id }) => id)).toEqual([
    'round',
    'witness',
    'symptom',
    'pages',
    'reference',
    'leaks',
    'sealed',
    'clean',
  ]);
});

const without = (type: string) => SOLVED.filter(([, event]) => event.type !== type);

it.each<[string, Partial<JournalOptions>, Partial<EvaluatedRound>, unknown[][]]>([
  [
    'a symptom that comes too late',
    { failing: [[70, 92]], happenings: SOLVED.map(([at, event]): Happening => [at + 40, event]), endsAt: 200 },
    {},
    [['symptom', 'fail', 'failures 40.0 s after the injection, at most 30.0 s']],
  ],
  ['no page', { happenings: without('page') }, {}, [['pages', 'fail', 'none; stated: OrdersErrorBudgetBurn']]],
  [
    'a solution that does not score',
    { happenings: without('proof') },
    {},
    [['reference', 'fail', '70 points; mitigate -30: no order proved that customers are served']],
  ],
  [
    'a line that fails',
    {},
    { played: [{ line: 'drill ack', played: 'drill ack', tookMs: 1, problem: 'it ended with 1: no' }] },
    [['reference', 'fail', '"drill ack": it ended with 1: no']],
  ],
  [
    'a surface that says it',
    {},
    {
      leaks: {
        found: [{ surface: 'shopctl audit', what: 'a toxic', excerpt: 'has the toxic' }],
        surfaces: 9,
        unread: [],
      },
    },
    [['leaks', 'fail', '1 in 9 surfaces; the first: shopctl audit: a toxic: has the toxic']],
  ],
  [
    'a surface that was not read',
    {},
    { leaks: { found: [], surfaces: 9, unread: ['GET /metrics: 503'] } },
    [['leaks', 'unknown', 'GET /metrics: 503']],
  ],
  ['no look at surfaces', {}, { leaks: undefined }, [['leaks', 'unknown', expect.stringContaining('no surface')]]],
  ['something left', {}, { left: ['orders-2 is stopped'] }, [['clean', 'fail', 'orders-2 is stopped']]],
  ['a void round, which says nothing else', { ended: 'void' }, {}, [['round', 'unknown', 'void: the time was over']]],
])('reports %s', (_what, options, part, expected) => {
  expect(badOf(aRound(options, part))).toEqual(expected);
});

it('takes alerts that may fire where no page is stated, and no others', () => {
  const scenario = { ...findScenario(scenarios, 'd201'), pages: [], may: ['OrdersErrorBudgetBurn'] };
  const pages = (part: Partial<EvaluatedRound>) =>
    evaluateRound({ ...aRound(), ...part }).find(({ id }) => id === 'pages')?.verdict;
  expect(pages({ scenario })).toBe('pass');
  expect(pages({ scenario, journal: aRound({ happenings: without('page') }).journal })).toBe('pass');
  expect(pages({ scenario: { ...scenario, may: ['OutboxStalled'] } })).toBe('fail');
});

it('reports an injection that was not measured', () => {
  const round = aRound();
  const records = round.journal.records.filter(({ type }) => type !== 'witnessed');
  expect(badOf({ ...round, journal: { records, isTorn: false } }).map(([id]) => id)).toContain('witness');
});

it('reports a broken chain', () => {
  const round = aRound();
  const journal = { records: round.journal.records.toSpliced(5, 1), isTorn: false };
  expect(badOf({ ...round, journal })).toEqual([['sealed', 'fail', expect.stringContaining('chain: record')]]);
});

it('demands no symptom and no page of a round without a failure', () => {
  const scenario = findScenario(scenarios, 'd000');
  const candidates = [{ id: 'd000', weight: 1 }];
  const envelope = seal(scenarios, { seed: '7', level: 1, candidates, build: 'x' });
  const clear = (happenings: readonly Happening[], failing: JournalOptions['failing'] = []) =>
    aRound(
      {},
      {
        scenario,
        journal: {
          records: aJournal({
            scenario,
            envelope,
            failing,
            endsAt: 100,
            ended: 'all-clear',
            happenings: [
              [12, { type: 'baseline', served: 90, failed: 0 }],
              [20, { type: 'look', source: 'logs' }],
              [21, { type: 'look', source: 'status' }],
              [22, { type: 'look', source: 'changes' }],
              ...happenings,
              [99, { type: 'all-clear', by }],
            ],
          }),
          isTorn: false,
        },
      },
    );
  expect(badOf(clear([]))).toEqual([]);
  expect(badOf(clear([], [[40, 44]]))).toEqual([['symptom', 'fail', expect.stringContaining('orders failed at')]]);
  const page: Happening = [50, { type: 'page', alert: 'OutboxStalled', state: 'firing' }];
  expect(badOf(clear([page]))).toEqual([['pages', 'fail', 'OutboxStalled at 50.0 s']]);
  const atStart: Happening = [3, { type: 'page', alert: 'OrdersLatencyBudgetBurn', state: 'firing' }];
  expect(badOf(clear([atStart]))).toEqual([]);
});
