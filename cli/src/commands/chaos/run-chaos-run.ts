import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError, messageOf } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import { type FoundExperiment, findExperiments } from '../../experiments/format/catalog.ts';
import { renderPlan } from '../../experiments/format/render.ts';
import type { PlatformNeeds } from '../../experiments/format/schema.ts';
import { parseSetting } from '../../experiments/format/substitute.ts';
import { describeFaults } from '../../experiments/run/faults-in-effect.ts';
import {
  findUnavailable,
  recordUnavailable,
  refuseUnavailable,
  type Unavailable,
} from '../../experiments/run/host-requirements.ts';
import { mayFollow } from '../../experiments/run/may-follow.ts';
import { needsKey } from '../../experiments/run/needs.ts';
import { endOwn, startOwn } from '../../experiments/run/own-platform.ts';
import { unavailableOn } from '../../experiments/run/preflight.ts';
import { createProgressReporter, shorten } from '../../experiments/run/progress-reporter.ts';
import { addReached, describeReached, neverReached, type Reached } from '../../experiments/run/reached.ts';
import { type FinishedRun, runOne } from '../../experiments/run/run-one.ts';
import { runningPlatform } from '../../experiments/run/running-platform.ts';
import { writeReports, writeSharedReports } from '../../experiments/run/write-reports.ts';
import { forwardHangUp } from '../../interruption.ts';
import { paintVerdict } from '../../output/check.ts';
import { refuseUnwritable } from '../../output/report-file.ts';
import { formatTable } from '../../output/table.ts';
import { haveTool } from '../../platform/have-tool.ts';
import type { Project } from '../../platform/project.ts';
import { holdRuns } from '../../platform/run-lock.ts';
import { formatDuration } from '../../shared/duration.ts';
import { exitCodeOf, worst } from '../../shared/verdict.ts';

export interface ChaosRunOptions extends CommonOptions {
  readonly tag?: readonly string[];
  readonly all?: boolean;
  readonly seed?: number;
  /** `name=value` */
  readonly set?: readonly string[];
  readonly seedBug?: readonly string[];
  readonly dryRun?: boolean;
  readonly keep?: boolean;
  readonly repeat?: number;
  readonly junit?: string;
  readonly html?: string;
  readonly fresh?: boolean;
  readonly failFast?: boolean;
  readonly requireCoverage?: boolean;
}

/** One finished experiment as `--json` shows it. */
export interface RunSummary {
  readonly id: string;
  readonly verdict: FinishedRun['verdict'];
  readonly exitCode: number;
  readonly reasons: readonly string[];
  /** How many faults its method declares, and how many were seen in effect. */
  readonly faults: FinishedRun['faults'];
  readonly tookMs: number;
  /** Paths. */
  readonly journal: string;
  readonly report: string | null;
}

/** `shopctl chaos run`. The exit code is that of the worst verdict. */
export async function runChaosRun(
  names: readonly string[],
  options: ChaosRunOptions,
  deps: CommandDeps,
): Promise<void> {
  const project = deps.projectFrom(options);
  const experiments = (await choose(names, options, project)).map((one) => withSeededBugs(one, options.seedBug ?? []));
  if (options.dryRun) return showPlan(experiments, deps);
  await refuseUnwritable(options);
  const unavailable = await findUnavailable(experiments, hostOf(project, deps));
  if (!asksForWhatThereIs(options)) refuseUnavailable(unavailable);
  const began = performance.now();
  const finished: RunSummary[] = [];
  const reached: Reached = new Map();
  const over = Promise.withResolvers<void>();
  // A first Ctrl-C aborts the signal, and the run ends in order: reverts its faults, closes its journal, stops its platform.
  deps.onInterrupt(() => over.promise);
  deps.onForce?.(() =>
    deps.output.note('still taking back what was done; once more leaves the rest to the supervisor'),
  );
  forwardHangUp();
  try {
    await using _ = await holdRuns(project);
    const batch = { project, options, deps, finished, reached };
    const possible = await withoutThese(unavailable, experiments, batch);
    if (possible.length > 0) await runAll(possible, batch);
  } finally {
    await writeSharedReports(finished, options, deps.output);
    show(finished, performance.now() - began, deps);
    if (options.all) judgeReached(reached, options, deps);
    over.resolve();
  }
}

/** With --all or --tag the available experiments run and the others are reported; they never count as a pass. */
function asksForWhatThereIs({ all, tag }: ChaosRunOptions): boolean {
  return all === true || tag !== undefined;
}

/** Reports the unavailable ones and resolves with the others. */
async function withoutThese(
  unavailable: readonly Unavailable[],
  experiments: readonly FoundExperiment[],
  batch: Batch,
): Promise<readonly FoundExperiment[]> {
  const { project, options, deps } = batch;
  for (const one of unavailable) {
    deps.output.note(`${deps.output.style.bold(one.found.experiment.id)} ${one.found.experiment.title}`);
    await conclude(await recordUnavailable(one, { project, seed: options.seed }), batch);
  }
  return experiments.filter((found) => unavailable.every((one) => one.found !== found));
}

/** Looks, before anything is done to the platform, which experiments have faults that it cannot have. */
async function possibleOn(
  platformProject: Project,
  experiments: readonly FoundExperiment[],
  batch: Batch,
): Promise<readonly FoundExperiment[]> {
  const unavailable = await unavailableOn(platformProject, [...new Set(experiments)]);
  if (!asksForWhatThereIs(batch.options)) refuseUnavailable(unavailable);
  return withoutThese(unavailable, experiments, batch);
}

/** Missing requirements that can be installed are installed, once; the others have been reported by then. */
function hostOf(project: Project, deps: CommandDeps): Parameters<typeof findUnavailable>[1] {
  let library: Promise<string | undefined> | undefined;
  return {
    libfaketime() {
      library ??= haveTool('libfaketime', project, deps).catch((error: Error & { why?: string }) => {
        deps.signal.throwIfAborted();
        deps.output.warn(`${error.message}\n${error.why ?? ''}`);
        return undefined;
      });
      return library;
    },
  };
}

async function choose(
  names: readonly string[],
  { tag = [], all = false, set = [] }: ChaosRunOptions,
  { root }: Project,
): Promise<readonly FoundExperiment[]> {
  if (names.length === 0 && tag.length === 0 && !all) {
    throw new CliError({
      code: 'invalid_usage',
      what: 'no experiment is named',
      next: 'name ids or files, or choose with --tag or --all; "shopctl chaos list" shows them',
    });
  }
  return findExperiments(root, { names, tags: tag, settings: Object.fromEntries(set.map(parseSetting)) });
}

function withSeededBugs(found: FoundExperiment, seededBugs: readonly string[]): FoundExperiment {
  if (seededBugs.length === 0) return found;
  const { platform } = found.experiment;
  const bugs = [...new Set([...platform['seeded-bugs'], ...seededBugs])];
  return {
    ...found,
    experiment: { ...found.experiment, platform: { ...platform, failpoints: true, 'seeded-bugs': bugs } },
  };
}

function showPlan(experiments: readonly FoundExperiment[], { output }: CommandDeps): void {
  output.result(
    experiments.map(({ file, experiment }) => ({ file, experiment })),
    () => experiments.map(({ experiment }) => renderPlan(experiment)).join('\n\n'),
  );
}

interface Batch {
  readonly project: Project;
  readonly options: ChaosRunOptions;
  readonly deps: CommandDeps;
  readonly finished: RunSummary[];
  /** Over every platform that was used. */
  readonly reached: Reached;
}

async function runAll(experiments: readonly FoundExperiment[], batch: Batch): Promise<void> {
  const { project, options, deps } = batch;
  const turns = experiments.flatMap((found) => Array.from({ length: options.repeat ?? 1 }, () => found));
  const state = await runningPlatform(experiments, { project, fresh: options.fresh, deps });
  if (state !== undefined) {
    for (const found of await possibleOn(project, turns, batch)) {
      if (endsAll(await runNext(found, project, batch), batch)) break;
    }
    if (state.failpoints) await addReached(batch.reached, project);
    return;
  }
  const groups = [...Map.groupBy(turns, ({ experiment }) => needsKey(experiment.platform)).values()];
  for (const [index, group] of groups.entries()) {
    let left: readonly FoundExperiment[] = group;
    while (left.length > 0) {
      const { last, next } = await runOnOwn(left, index === groups.length - 1, batch);
      if (last !== undefined && endsAll(last, batch, { isOwn: true })) return;
      left = next;
    }
  }
}

/**
 * Runs on one platform until all have run, or one has left what the next are not to meet. `last` is undefined when the
 * platform can have none of them.
 */
async function runOnOwn(
  group: readonly FoundExperiment[],
  isLastGroup: boolean,
  batch: Batch,
): Promise<{ last: FinishedRun | undefined; next: readonly FoundExperiment[] }> {
  const { project, options, deps } = batch;
  const needs = group[0]?.experiment.platform as PlatformNeeds;
  let own: Project;
  try {
    own = await startOwn(project, needs, deps);
  } catch (error) {
    await endOwn(project, deps);
    throw error;
  }
  let isKept = false;
  try {
    const possible = await possibleOn(own, group, batch);
    let done = 0;
    let last: FinishedRun | undefined;
    for (let isFree = true; isFree && done < possible.length; done += 1) {
      const found = possible[done] as FoundExperiment;
      last = await runNext(found, own, batch);
      isFree = mayFollow(last.verdict, found.experiment);
    }
    await addReached(batch.reached, own);
    const next = possible.slice(done);
    const isOver = (isLastGroup && next.length === 0) || (last !== undefined && endsAll(last, batch, { isOwn: true }));
    isKept = options.keep === true && isOver && !deps.signal.aborted;
    return { last, next };
  } finally {
    if (isKept) {
      deps.output.note(
        `${own.name} is kept: "shopctl status -p ${own.name}"; "shopctl down -v -p ${own.name}" ends it`,
      );
    } else {
      await endOwn(project, deps);
    }
  }
}

/** Whether nothing further is to be run. What is left on a platform of the run's own goes with the platform. */
function endsAll({ verdict }: FinishedRun, { options }: Batch, { isOwn = false }: { isOwn?: boolean } = {}): boolean {
  if (verdict === 'interrupted' || (verdict === 'dirty' && !isOwn)) return true;
  return options.failFast === true && verdict !== 'pass';
}

async function runNext(
  { file, experiment }: FoundExperiment,
  platformProject: Project,
  batch: Batch,
): Promise<FinishedRun> {
  const { project, options, deps } = batch;
  const { output } = deps;
  deps.signal.throwIfAborted();
  const seed = options.seed ?? experiment.seed;
  output.note(`${output.style.bold(experiment.id)} ${experiment.title} (seed ${seed})`);
  const run = await runOne({
    file,
    experiment,
    seed,
    project,
    platformProject,
    seededBugs: experiment.platform['seeded-bugs'],
    interrupted: deps.signal,
    tell: createProgressReporter(output),
  });
  await conclude(run, batch);
  return run;
}

/** Writes the reports of a run and prints its result. */
async function conclude(run: FinishedRun, { deps: { output }, finished }: Batch): Promise<void> {
  // A verdict is valid also where there is no space for its report.
  const report = await writeReports(run.folder, output).catch((error: unknown) => {
    output.warn(`the report could not be written: ${messageOf(error)}`);
    return null;
  });
  const { id, verdict, exitCode, reasons, faults, tookMs, folder } = run;
  finished.push({ id, verdict, exitCode, reasons, faults, tookMs, journal: folder.journal, report });
  const summary = `${paintVerdict(verdict, output.style)} in ${formatDuration(tookMs)}, ${describeFaults(faults)}`;
  output.note(`  ${summary}${reasonLines(reasons)}`);
}

function reasonLines(reasons: readonly string[]): string {
  return reasons.map((reason) => `\n    ${reason}`).join('');
}

function show(finished: readonly RunSummary[], tookMs: number, { output }: CommandDeps): void {
  if (finished.length === 0) return;
  output.result(finished, () => {
    const rows = finished.map(({ id, verdict, tookMs: ownMs, reasons, journal, report }) => [
      id,
      paintVerdict(verdict, output.style),
      formatDuration(ownMs),
      shorten(reasons[0] ?? '', 80),
      report ?? journal,
    ]);
    const table = formatTable(['ID', 'VERDICT', 'TOOK', 'WHY', 'REPORT'], rows);
    return [table, ...repeatsOf(finished), `total time ${formatDuration(tookMs)}`].join('\n');
  });
  process.exitCode = exitCodeOf(worst(finished.map(({ verdict }) => verdict)));
}

/** The failpoints that no experiment has reached; unknown without failpoints. */
function judgeReached(reached: Reached, { requireCoverage }: ChaosRunOptions, { output }: CommandDeps): void {
  if (reached.size > 0) output.note(describeReached(reached));
  if (!requireCoverage || (reached.size > 0 && neverReached(reached).length === 0)) return;
  if (reached.size === 0) output.note('coverage is not known: the services ran without failpoints');
  process.exitCode ||= reached.size === 0 ? exitCodes.unknown : exitCodes.failed;
}

/** Whether repeated runs came to the same. */
function repeatsOf(finished: readonly RunSummary[]): string[] {
  const byId = [...Map.groupBy(finished, ({ id }) => id)].filter(([, runs]) => runs.length > 1);
  return byId.map(([id, runs]) => {
    const verdicts = [...Map.groupBy(runs, ({ verdict }) => verdict)].map(
      ([verdict, own]) => `${own.length} ${verdict}`,
    );
    return `${id}: ${runs.length} runs, ${verdicts.length === 1 ? 'equal verdicts' : 'DIFFERENT verdicts'}: ${verdicts.join(', ')}`;
  });
}
