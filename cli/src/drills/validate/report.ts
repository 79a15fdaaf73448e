import { renderCheck } from '../../output/check.ts';
import type { JunitSuite } from '../../output/junit.ts';
import type { Style } from '../../output/style.ts';
import { formatTable } from '../../output/table.ts';
import { formatDuration } from '../../shared/duration.ts';
import { type RunVerdict, worst } from '../../shared/verdict.ts';
import type { TrialRecord } from './trial.ts';
import type { TrialsJournal } from './trial-journal.ts';

/** What a run says of its scenarios, as `--json` prints it. */
export interface TrialsReport {
  readonly verdict: RunVerdict;
  readonly admitted: number;
  readonly scenarios: readonly {
    readonly id: string;
    readonly verdict: RunVerdict;
    /** Null: it was not played, or has no score. */
    readonly points: number | null;
    readonly trial: TrialRecord | null;
  }[];
}

/** A scenario is admitted where all of its checks pass; one that was not played is unknown, one that leaves something is dirty. Pure. */
export function reportOf({ start, trials }: TrialsJournal): TrialsReport {
  const scenarios = start.scenarios.map((id) => {
    const trial = trials.find(({ scenario }) => scenario === id) ?? null;
    return {
      id,
      verdict: trial === null ? ('unknown' as const) : verdictOf(trial),
      points: trial?.points ?? null,
      trial,
    };
  });
  return {
    verdict: worst(scenarios.map(({ verdict }) => verdict)),
    admitted: scenarios.filter(({ verdict }) => verdict === 'pass').length,
    scenarios,
  };
}

function verdictOf({ checks, unreverted }: Pick<TrialRecord, 'checks' | 'unreverted'>): RunVerdict {
  if (unreverted !== undefined) return 'dirty';
  return worst(checks.map(({ verdict }) => verdict));
}

/** `d101: pass, 98 points` */
export function describeTrial(trial: TrialRecord): string {
  const { scenario, points, checks } = trial;
  const bad = checks.filter(({ verdict }) => verdict !== 'pass').map(({ id, evidence }) => `${id}: ${evidence}`);
  const score = points === undefined ? 'no score' : `${points} points`;
  return [`${scenario}: ${verdictOf(trial)}, ${score}`, ...bad].join('; ');
}

export function renderTrials({ scenarios, admitted }: TrialsReport, style: Style): string {
  const table = formatTable(
    ['SCENARIO', 'VERDICT', 'POINTS', 'TOOK'],
    scenarios.map(({ id, verdict, points, trial }) => [
      id,
      verdict,
      points === null ? '-' : String(points),
      trial === null ? '-' : formatDuration(trial.tookMs),
    ]),
  );
  const bad = scenarios.flatMap(({ id, trial }) => {
    const checks = trial?.checks.filter(({ verdict }) => verdict !== 'pass') ?? [];
    return checks.length === 0 ? [] : ['', style.bold(id), ...checks.map((one) => renderCheck(one, style))];
  });
  return [table, ...bad, '', `${admitted} of ${scenarios.length} are admitted`].join('\n');
}

/** One suite for each scenario. */
export function suitesOf({ scenarios }: TrialsReport): readonly JunitSuite[] {
  return scenarios.map(({ id, trial }) => ({
    name: id,
    classname: 'shopctl drill validate',
    startedAt: new Date(trial?.startedAt ?? 0),
    tookMs: trial?.tookMs ?? 0,
    cases: trial?.checks ?? [
      { id: 'round', name: 'it was played', verdict: 'unknown' as const, evidence: 'it was not' },
    ],
  }));
}
