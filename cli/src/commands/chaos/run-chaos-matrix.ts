import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import type { FoundExperiment } from '../../experiments/format/catalog.ts';
import { readJournal } from '../../experiments/journal.ts';
import { findBoundary } from '../../experiments/matrix/boundaries.ts';
import { type CheckedRound, checkRound } from '../../experiments/matrix/check-round.ts';
import { excludedFaults } from '../../experiments/matrix/matrix-faults.ts';
import { cellsOf, type Plan, planMatrix, type Round, rowName, sample } from '../../experiments/matrix/plan.ts';
import { commandFor, countOf, type Repetition, renderFinding, renderMatrix } from '../../experiments/matrix/render.ts';
import { renderMatrixHtml, rowAsJson, suiteOfMatrix, summaryOf } from '../../experiments/matrix/render-files.ts';
import { type RoundSpec, roundExperiment } from '../../experiments/matrix/round-experiment.ts';
import { type MatrixResult, runMatrix } from '../../experiments/matrix/run-matrix.ts';
import { startEphemeral } from '../../experiments/run/ephemeral-platform.ts';
import { refuseNotInjectable } from '../../experiments/run/preflight.ts';
import { runOne } from '../../experiments/run/run-one.ts';
import { runningPlatform } from '../../experiments/run/running-platform.ts';
import { writeReports } from '../../experiments/run/write-reports.ts';
import { forwardHangUp } from '../../interruption.ts';
import { paintVerdict } from '../../output/check.ts';
import { renderJunitSuites } from '../../output/junit.ts';
import type { Project } from '../../platform/project.ts';
import { holdRuns } from '../../platform/run-lock.ts';
import { type ReportFiles, refuseUnwritable, writeReportFiles } from '../../report/report-files.ts';
import { formatDuration } from '../../shared/duration.ts';
import { exitCodeOf, type RunVerdict, worst } from '../../shared/verdict.ts';

export interface ChaosMatrixOptions extends CommonOptions, ReportFiles {
  readonly fault?: readonly string[];
  readonly target?: readonly string[];
  readonly at?: readonly string[];
  readonly sample?: number;
  readonly seed?: number;
  /** ms. */
  readonly budget?: number;
  readonly seedBug?: readonly string[];
  readonly dryRun?: boolean;
  readonly fresh?: boolean;
}

/** A run takes this long before any was measured, ms. */
const FIRST_GUESS_MS = 45_000;

/** One run as in `--json`. */
interface RoundRun {
  readonly id: string;
  readonly at: readonly string[];
  readonly verdict: RunVerdict;
  readonly reasons: readonly string[];
  readonly tookMs: number;
  readonly journal: string;
}

interface Matrix {
  readonly plan: Plan;
  readonly rounds: readonly Round[];
  readonly repetition: Repetition;
  readonly options: ChaosMatrixOptions;
  readonly project: Project;
  readonly deps: CommandDeps;
  readonly runs: RoundRun[];
}

/** `shopctl chaos matrix`. The exit code is that of the worst cell that was covered. */
export async function runChaosMatrix(options: ChaosMatrixOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  const repetition = { seed: options.seed ?? 1, seededBugs: options.seedBug ?? [] };
  const selection = { faults: options.fault, targets: options.target, boundaries: options.at?.map(findBoundary) };
  const plan = planMatrix(selection, repetition.seed);
  const rounds = options.sample === undefined ? plan.rounds : sample(plan.rounds, options.sample);
  const matrix: Matrix = { plan, rounds, repetition, options, project, deps, runs: [] };
  if (options.dryRun) return showPlan(matrix);
  await refuseUnwritable(options);
  const over = Promise.withResolvers<void>();
  // As of "chaos run": a first Ctrl-C ends the run that goes on, which reverts faults and closes its journal.
  deps.onInterrupt(() => over.promise);
  deps.onForce?.(() => deps.output.note('still reverting faults'));
  forwardHangUp();
  try {
    await using _ = await holdRuns(project);
    await cover(matrix);
  } finally {
    over.resolve();
  }
}

function planText({ plan, rounds }: Matrix): string {
  const all = cellsOf(plan.rounds);
  const chosen = cellsOf(rounds);
  const of = chosen === all ? `${all} cells` : `${chosen} of ${all} cells`;
  return `${plan.rows.length} faults and targets, ${plan.boundaries.length} boundaries: ${of} in ${rounds.length} rounds; ${plan.unreachable} pairs do not meet`;
}

function showPlan(matrix: Matrix): void {
  const reported = matrix.rounds.map(({ row, boundaries }) => ({
    ...rowAsJson(row),
    at: boundaries.map(({ name }) => name),
  }));
  matrix.deps.output.result({ rounds: reported, unreachable: matrix.plan.unreachable }, () =>
    [
      ...reported.map(({ fault, target, at }) => `${fault} ${target} at ${at.join(', ')}`),
      planText(matrix),
      ...[...excludedFaults].map(([name, why]) => `${name} is excluded: ${why}`),
    ].join('\n'),
  );
}

async function cover(matrix: Matrix): Promise<void> {
  const { project, options, deps, repetition } = matrix;
  const state = await runningPlatform([anyRound(matrix)], { project, fresh: options.fresh, deps });
  deps.output.note(`${planText(matrix)} (seed ${repetition.seed})`);
  if (state !== undefined) return await runOn(project, matrix);
  const own = await startEphemeral(project, anyRound(matrix).experiment.platform, deps);
  try {
    await runOn(own.project, matrix);
  } finally {
    await own.end(deps.output);
  }
}

/** All rounds need the same platform. */
function anyRound({ rounds, repetition }: Matrix): FoundExperiment {
  const { row, boundaries } = rounds[0] as Round;
  const path = boundaries[0]?.path ?? 'request';
  return found({ row, boundaries, path }, repetition.seededBugs);
}

function found(spec: RoundSpec, seededBugs: readonly string[]): FoundExperiment {
  return { file: 'chaos matrix', experiment: roundExperiment(spec, seededBugs) };
}

async function runOn(platformProject: Project, matrix: Matrix): Promise<void> {
  const { rounds, options, deps, runs } = matrix;
  const rows = rounds.map(({ row: { fault, target, parameters } }) => ({ fault: fault.name, target, parameters }));
  await refuseNotInjectable(platformProject, rows);
  const startedAt = new Date();
  const began = performance.now();
  const endsAt = options.budget === undefined ? Number.POSITIVE_INFINITY : began + options.budget;
  const longestMs = () => Math.max(0, ...runs.map(({ tookMs }) => tookMs)) || FIRST_GUESS_MS;
  const result = await runMatrix(rounds, {
    hasTime: () => !deps.signal.aborted && performance.now() + longestMs() <= endsAt,
    run: (spec) => runRound(spec, platformProject, matrix),
  });
  const times = { startedAt, tookMs: performance.now() - began };
  await writeFiles(matrix, result, times);
  show(matrix, result, times.tookMs);
}

async function runRound(spec: RoundSpec, platformProject: Project, matrix: Matrix): Promise<CheckedRound> {
  const { project, deps, repetition, runs } = matrix;
  const { output, signal } = deps;
  const at = spec.boundaries.map(({ name }) => name);
  const words = `${spec.row === undefined ? 'no fault' : rowName(spec.row)} at ${at.join(', ') || 'no boundary'}`;
  const run = await runOne({
    ...found(spec, repetition.seededBugs),
    seed: repetition.seed,
    project,
    platformProject,
    seededBugs: repetition.seededBugs,
    interrupted: signal,
    // A round has many steps of which only what is wrong matters; all are in its journal.
    onEvent: () => undefined,
  });
  await writeReports(run.folder, output);
  const { records } = await readJournal(run.folder.journal);
  const checked = checkRound(spec, records, run);
  const { verdict, reasons } = checked;
  runs.push({ id: run.id, at, verdict, reasons, tookMs: run.tookMs, journal: run.folder.journal });
  const why = reasons.map((reason) => `\n    ${reason}`).join('');
  output.note(`${paintVerdict(verdict, output.style)} ${words}, ${formatDuration(run.tookMs)}${why}`);
  return checked;
}

async function writeFiles(
  { plan, options, repetition }: Matrix,
  result: MatrixResult,
  times: { startedAt: Date; tookMs: number },
): Promise<void> {
  await writeReportFiles(options, {
    junit: () => renderJunitSuites([suiteOfMatrix(result, repetition, times)]),
    html: () => renderMatrixHtml(plan, result, repetition),
  });
}

function show(matrix: Matrix, result: MatrixResult, tookMs: number): void {
  const { plan, repetition, deps, runs } = matrix;
  const { cells, findings } = result;
  const verdicts = cells.flatMap(({ verdict }) => (verdict === 'not covered' ? [] : [verdict]));
  const isCutShort = deps.signal.aborted;
  // Nothing measured is not a pass.
  const measured: readonly RunVerdict[] = verdicts.length === 0 ? ['unknown'] : verdicts;
  const verdict = worst(isCutShort ? [...measured, 'interrupted'] : measured);
  const notCovered = countOf(cells, 'not covered');
  const reported = {
    verdict,
    seed: repetition.seed,
    cells: cells.map(({ row, boundary, ...rest }) => ({ ...rowAsJson(row), at: boundary.name, ...rest })),
    findings: findings.map(({ kind, row, boundaries, reasons }) => ({
      kind,
      ...rowAsJson(row),
      at: boundaries.map(({ name }) => name),
      reasons,
      command: commandFor(row, boundaries, repetition),
    })),
    notCovered,
    unreachable: plan.unreachable,
    runs,
    tookMs,
  };
  deps.output.result(reported, () =>
    [
      renderMatrix(plan, result, deps.output.style),
      ...findings.map((finding) => renderFinding(finding, repetition)),
      ...unknownReasons(result),
      `${summaryOf(cells)}; ${plan.unreachable} pairs do not meet; ${result.runs} runs in ${formatDuration(tookMs)}`,
      ...(notCovered > 0 ? [`NOT COVERED: ${notCovered} cells, there was no time for them`] : []),
    ].join('\n\n'),
  );
  process.exitCode = exitCodeOf(verdict);
}

/** Once for all cells that have the same. */
function unknownReasons({ cells }: MatrixResult): readonly string[] {
  const groups = Map.groupBy(
    cells.filter(({ verdict }) => verdict === 'unknown'),
    ({ row, reason }) => `${rowName(row)}: ${reason}`,
  );
  return [...groups].map(
    ([reason, own]) => `unknown at ${own.map(({ boundary }) => boundary.name).join(', ')}: ${reason}`,
  );
}
