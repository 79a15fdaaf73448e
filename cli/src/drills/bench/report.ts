import type { JunitSuite } from '../../output/junit.ts';
import type { Style } from '../../output/style.ts';
import { formatTable } from '../../output/table.ts';
import { formatDuration } from '../../shared/duration.ts';
import { percentile } from '../../shared/statistics.ts';
import { type CheckResult, type Verdict, worst } from '../../shared/verdict.ts';
import { type Baseline, baselines } from '../play/baselines.ts';
import type { BenchJournal, BenchRecord } from './bench-journal.ts';
import { nameOf } from './plan.ts';

/** Points with which a round is passed; a level unlocks by as many. */
const PASSED = 70;
/** 95 %, two-sided. */
const Z = 1.959964;

/** How one player did. */
export interface PlayerReport {
  readonly player: string;
  readonly planned: number;
  /** With points. */
  readonly scored: number;
  /** Means; null without a round. */
  readonly points: number | null;
  readonly pointsWithoutFailure: number | null;
  readonly leastPoints: number | null;
  /** Share of rounds with 70 points or more, and its Wilson interval. */
  readonly passShare: number | null;
  readonly passInterval: readonly [low: number, high: number] | null;
  /** Share of scenarios of which every round was passed. */
  readonly passEachShare: number | null;
  /** Medians after the symptom, ms. */
  readonly detectedMs: number | null;
  readonly diagnosedMs: number | null;
  readonly recoveredMs: number | null;
  readonly checks: readonly CheckResult<Verdict>[];
}

export interface BenchReport {
  readonly verdict: Verdict;
  readonly players: readonly PlayerReport[];
  readonly rounds: readonly BenchRecord[];
}

/** What a run says of its players. `pass`: points that each round of the agent needs in the mean. Pure. */
export function benchReport({ start, records }: BenchJournal, pass?: number): BenchReport {
  const names = [...new Set(start.rounds.map(({ player }) => player))];
  const players = names.map((player) => {
    const planned = start.rounds.filter((round) => round.player === player).length;
    const own = records.filter((record) => record.player === player);
    return playerReport(player, planned, own, pass);
  });
  return {
    verdict: worst(players.flatMap(({ checks }) => checks.map(({ verdict }) => verdict))),
    players,
    rounds: records,
  };
}

function playerReport(
  player: string,
  planned: number,
  records: readonly BenchRecord[],
  pass: number | undefined,
): PlayerReport {
  const scored = records.filter(({ points }) => points !== null);
  const failing = scored.filter(({ isWithoutFailure }) => !isWithoutFailure);
  const without = scored.filter(({ isWithoutFailure }) => isWithoutFailure);
  const points = mean(failing.map(pointsOf));
  const passed = scored.filter((one) => pointsOf(one) >= PASSED).length;
  const byScenario = [...Map.groupBy(scored, ({ scenario }) => scenario).values()];
  const passedEach = byScenario.filter((all) => all.every((one) => pointsOf(one) >= PASSED)).length;
  const baseline = baselines.find(({ name }) => name === player);
  const least = scored.length === 0 ? null : Math.min(...scored.map(pointsOf));
  return {
    player,
    planned,
    scored: scored.length,
    points,
    pointsWithoutFailure: mean(without.map(pointsOf)),
    leastPoints: least,
    passShare: scored.length === 0 ? null : rounded(passed / scored.length),
    passInterval: scored.length === 0 ? null : wilson(passed, scored.length),
    passEachShare: byScenario.length === 0 ? null : rounded(passedEach / byScenario.length),
    ...afterSymptom(failing),
    checks: [
      ...(baseline === undefined ? passCheck(points, pass) : [boundCheck(baseline, points, least)]),
      {
        name: 'every round has points',
        verdict: scored.length === planned ? 'pass' : 'unknown',
        evidence: `${scored.length} of ${planned}`,
      },
    ],
  };
}

function afterSymptom(
  records: readonly BenchRecord[],
): Pick<PlayerReport, 'detectedMs' | 'diagnosedMs' | 'recoveredMs'> {
  const median = (key: 'detectedMs' | 'diagnosedMs' | 'recoveredMs') => {
    const values = records.flatMap(({ clocks }) => {
      const [ms, symptomMs] = [clocks?.[key], clocks?.symptomMs];
      return ms === undefined || symptomMs === undefined ? [] : [Math.max(0, ms - symptomMs)];
    });
    return percentile(values, 0.5) ?? null;
  };
  return { detectedMs: median('detectedMs'), diagnosedMs: median('diagnosedMs'), recoveredMs: median('recoveredMs') };
}

/** The mean over rounds with a failure; a solution has to reach it in each round. */
function boundCheck({ bound }: Baseline, points: number | null, least: number | null): CheckResult<Verdict> {
  if ('atMost' in bound) {
    const verdict = points === null ? 'unknown' : points <= bound.atMost ? 'pass' : 'fail';
    return { name: `at most ${bound.atMost} points in the mean`, verdict, evidence: `${points ?? 'no'} points` };
  }
  const verdict = least === null ? 'unknown' : least >= bound.atLeast ? 'pass' : 'fail';
  return { name: `at least ${bound.atLeast} points in each round`, verdict, evidence: `${least ?? 'no'} points` };
}

function passCheck(points: number | null, pass: number | undefined): readonly CheckResult<Verdict>[] {
  if (pass === undefined) return [];
  const verdict = points === null ? 'unknown' : points >= pass ? 'pass' : 'fail';
  return [{ name: `at least ${pass} points in the mean`, verdict, evidence: `${points ?? 'no'} points` }];
}

const pointsOf = ({ points }: BenchRecord) => points ?? 0;

function mean(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  return Math.round((values.reduce((sum, value) => sum + value, 0) / values.length) * 10) / 10;
}

/** To a thousandth. */
function rounded(share: number): number {
  return Math.round(share * 1000) / 1000;
}

/** The 95 % interval of a share. Source: E. B. Wilson, 1927, JASA 22 (158). Pure. */
export function wilson(successes: number, trials: number): readonly [low: number, high: number] {
  const share = successes / trials;
  const scale = 1 + Z ** 2 / trials;
  const centre = (share + Z ** 2 / (2 * trials)) / scale;
  const half = (Z / scale) * Math.sqrt((share * (1 - share)) / trials + Z ** 2 / (4 * trials ** 2));
  return [rounded(Math.max(0, centre - half)), rounded(Math.min(1, centre + half))];
}

export function renderBench({ players, rounds, verdict }: BenchReport, style: Style): string {
  const text = (value: number | null) => (value === null ? '-' : String(value));
  const after = (ms: number | null) => (ms === null ? '-' : formatDuration(ms));
  const table = formatTable(
    [
      'PLAYER',
      'ROUNDS',
      'POINTS',
      'LEAST',
      'NO FAILURE',
      'PASSED',
      '95 %',
      'EACH',
      'DETECTED',
      'DIAGNOSED',
      'SERVED AGAIN',
    ],
    players.map((one) => [
      one.player,
      `${one.scored} of ${one.planned}`,
      text(one.points),
      text(one.leastPoints),
      text(one.pointsWithoutFailure),
      percentText(one.passShare),
      one.passInterval === null ? '-' : one.passInterval.map(percentText).join(' to '),
      percentText(one.passEachShare),
      ...[one.detectedMs, one.diagnosedMs, one.recoveredMs].map(after),
    ]),
  );
  const wrong = players.flatMap(({ player, checks }) =>
    checks
      .filter((check) => check.verdict !== 'pass')
      .map(
        ({ name, verdict: of, evidence }) =>
          `${of === 'fail' ? style.red(of) : style.yellow(of)}  ${player}: ${name}, ${evidence}`,
      ),
  );
  const empty = rounds.filter(({ points }) => points === null).map((one) => `no points  ${nameOf(one)}: ${one.ended}`);
  return [table, ...(wrong.length + empty.length > 0 ? [[...wrong, ...empty].join('\n')] : []), verdict].join('\n\n');
}

function percentText(share: number | null): string {
  return share === null ? '-' : `${Math.round(share * 100)} %`;
}

/** One suite a player: its bounds, and each of its rounds. Pure. */
export function benchSuites({ start }: BenchJournal, { players, rounds }: BenchReport): readonly JunitSuite[] {
  return players.map(({ player, checks }) => {
    const own = rounds.filter((round) => round.player === player);
    return {
      name: `drill bench: ${player}`,
      startedAt: new Date(own[0]?.startedAt ?? start.startedAt),
      tookMs: own.reduce((sum, { tookMs }) => sum + tookMs, 0),
      classname: 'drill-bench',
      cases: [
        ...checks,
        ...own.map((round) => ({
          name: `${round.scenario}, round ${round.round}`,
          verdict: round.points === null ? ('unknown' as const) : ('pass' as const),
          evidence: round.points === null ? round.ended : `${round.points} points, ${round.ended}`,
        })),
      ],
    };
  });
}
