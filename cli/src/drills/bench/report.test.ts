import { expect, it } from 'vitest';
import { renderJunitSuites } from '../../output/junit.ts';
import { createStyle } from '../../output/style.ts';
import { cloneRoot } from '../../platform/project.ts';
import { readScenarios } from '../format/catalog.ts';
import { BENCH_VERSION, type BenchJournal, type BenchRecord, parseBench, waitingRounds } from './bench-journal.ts';
import { planRounds, scenariosOf } from './plan.ts';
import { benchReport, benchSuites, renderBench, wilson } from './report.ts';

const scenarios = await readScenarios(cloneRoot());
const two = scenarios.filter(({ id }) => id === 'd101' || id === 'd000');
const rounds = planRounds({ players: ['agent', 'noop'], scenarios: two, rounds: 2, seed: '1' });
const start = {
  type: 'bench',
  version: BENCH_VERSION,
  runId: 'x',
  startedAt: '2026-01-01T00:00:00.000Z',
  limitMs: 240_000,
  rounds,
} as const;

function aRecord(index: number, points: number | null, part: Partial<BenchRecord> = {}): BenchRecord {
  const round = rounds[index] as (typeof rounds)[number];
  return {
    type: 'round',
    ...round,
    platform: 'shop-1',
    startedAt: start.startedAt,
    tookMs: 1_000,
    points,
    ended: points === null ? 'void: the machine did not hold the rate' : 'fixed',
    parts: [],
    clocks: { symptomMs: 30_000, detectedMs: 42_000, endMs: 90_000 },
    isWithoutFailure: round.scenario === 'd000',
    blames: 1,
    actions: 1,
    journal: null,
    isQuiet: true,
    ...part,
  };
}
const text = (...lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');
// agent d000 1 and 2, agent d101 1 and 2, noop the same.
const records = [100, 100, 90, 40, 20, 20, 15, 15].map((points, index) => aRecord(index, points));
const journal: BenchJournal = { start, records, tookMs: 0 };

it('plans each scenario for each player, with the same seeds', () => {
  expect(rounds).toHaveLength(8);
  const seedsOf = (player: string) => rounds.filter((one) => one.player === player).map(({ seed }) => seed);
  expect(seedsOf('agent')).toEqual(seedsOf('noop'));
  expect(new Set(seedsOf('agent')).size).toBe(4);
});

it('has a small set of scenarios, and all that can be played', () => {
  expect(scenariosOf('lite', scenarios).every(({ lite }) => lite)).toBe(true);
  expect(scenariosOf('all', scenarios).length).toBeGreaterThan(scenariosOf('lite', scenarios).length);
});

it('has means over rounds with a failure, and those without one beside them', () => {
  const [agent, noop] = benchReport(journal).players;
  expect(agent).toMatchObject({
    player: 'agent',
    scored: 4,
    points: 65,
    leastPoints: 40,
    pointsWithoutFailure: 100,
    passShare: 0.75,
    passEachShare: 0.5,
    detectedMs: 12_000,
    diagnosedMs: null,
  });
  expect(noop).toMatchObject({ points: 15, pointsWithoutFailure: 20, passShare: 0 });
});

it('passes where baselines are within their bounds, and the agent has its points', () => {
  expect(benchReport(journal).verdict).toBe('pass');
  expect(benchReport(journal, 65).verdict).toBe('pass');
  expect(benchReport(journal, 66).verdict).toBe('fail');
  const better = { ...journal, records: records.map((one) => ({ ...one, points: 21 })) };
  expect(benchReport(better).players[1]?.checks[0]).toEqual({
    name: 'at most 20 points in the mean',
    verdict: 'fail',
    evidence: '21 points',
  });
});

it('is unknown where a round proves nothing, which is played again', () => {
  const empty = { ...journal, records: [...records.slice(0, 7), aRecord(7, null)] };
  expect(benchReport(empty).verdict).toBe('unknown');
  expect(waitingRounds(empty)).toEqual([rounds[7]]);
  expect(waitingRounds({ ...journal, records: records.slice(0, 6) })).toEqual(rounds.slice(6));
  const again = parseBench(text(start, ...empty.records, aRecord(7, 15)));
  expect([waitingRounds(again), benchReport(again).verdict]).toEqual([[], 'pass']);
});

it('is read without the line that a kill has cut off, and not from another file', () => {
  const cut = text(start, ...records).slice(0, -20);
  expect(parseBench(cut).records).toHaveLength(7);
  expect(() => parseBench('')).toThrow('its first line is not the start of a bench');
  expect(() => parseBench(text({ ...start, version: 'v0' }))).toThrow('it is of version v0');
});

it('is printed as a table, and as JUnit with a suite for each player', () => {
  const report = benchReport({ ...journal, records: [...records.slice(0, 7), aRecord(7, null)] });
  const lines = renderBench(report, createStyle({ enabled: false })).split('\n');
  expect(lines[1]).toMatch(/^agent +4 of 4 +65 +40 +100 +75 % +30 % to 95 % +50 % +12.0 s/);
  expect(lines).toContain('no points  noop d101 2: void: the machine did not hold the rate');
  const junit = renderJunitSuites(benchSuites(journal, report));
  expect(junit).toContain('<testsuite name="drill bench: noop"');
  expect(junit).toMatch(/<testsuites tests="11" failures="0" errors="2"/);
});

// Source: R. G. Newcombe, 1998, Statistics in Medicine 17, table I: 81 of 263 and 15 of 148 and 0 of 20.
it.each([
  [81, 263, [0.255, 0.366]],
  [15, 148, [0.062, 0.16]],
  [0, 20, [0, 0.161]],
])('has the interval of %d of %d', (successes, trials, interval) => {
  expect(wilson(successes, trials)).toEqual(interval);
});
