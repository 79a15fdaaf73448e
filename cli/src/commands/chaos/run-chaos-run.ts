import { availableParallelism } from 'node:os';
import type { CommandDeps } from '../../command-context.ts';
import { availableMemory, PLATFORM_MEMORY_BYTES } from '../../doctor/machine.ts';
import { CliError } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import { type FoundExperiment, findExperiments } from '../../experiments/format/catalog.ts';
import { renderPlan } from '../../experiments/format/render.ts';
import { parseSetting } from '../../experiments/format/substitute.ts';
import { findUnavailable, refuseUnavailable } from '../../experiments/run/host-requirements.ts';
import { unavailableOn } from '../../experiments/run/preflight.ts';
import { shorten } from '../../experiments/run/progress-reporter.ts';
import { addReached, describeReached, neverReached, type Reached } from '../../experiments/run/reached.ts';
import { runningPlatform } from '../../experiments/run/running-platform.ts';
import { platformsOf } from '../../experiments/run/schedule.ts';
import { annotateRuns, writeSharedReports } from '../../experiments/run/write-reports.ts';
import { forwardHangUp } from '../../interruption.ts';
import { paintVerdict } from '../../output/check.ts';
import { formatTable } from '../../output/table.ts';
import { haveTool } from '../../platform/have-tool.ts';
import type { Project } from '../../platform/project.ts';
import { holdRuns } from '../../platform/run-lock.ts';
import { refuseUnwritable } from '../../report/report-files.ts';
import { formatDuration } from '../../shared/duration.ts';
import { exitCodeOf, worst } from '../../shared/verdict.ts';
import {
  asksForWhatThereIs,
  type Batch,
  type ChaosRunOptions,
  endsAll,
  type RunSummary,
  reportUnavailable,
  runNext,
} from './experiment-batch.ts';
import { runOnEphemeralPlatforms } from './run-on-ephemeral-platforms.ts';

/** `shopctl chaos run`. The exit code is that of the worst verdict. */
export async function runChaosRun(
  names: readonly string[],
  options: ChaosRunOptions,
  deps: CommandDeps,
): Promise<void> {
  const project = deps.projectFrom(options);
  refuseKeepingSeveral(options);
  const experiments = (await choose(names, options, project)).map((one) => withSeededBugs(one, options.seedBug ?? []));
  if (options.dryRun) return showPlan(experiments, deps);
  await refuseUnwritable(options);
  const unavailable = await findUnavailable(experiments, hostOf(project, deps));
  if (!asksForWhatThereIs(options)) refuseUnavailable(unavailable);
  const began = performance.now();
  const finished: Batch['finished'] = [];
  const reached: Reached = new Map();
  const over = Promise.withResolvers<void>();
  // A first Ctrl-C aborts the signal, and the run ends in order: reverts its faults, closes its journal, stops its platform.
  deps.onInterrupt(() => over.promise);
  deps.onForce?.(() => deps.output.note('still reverting faults; once more leaves the rest to the supervisor'));
  forwardHangUp();
  try {
    await using _ = await holdRuns(project);
    const batch = { project, options, deps, finished, reached };
    await reportUnavailable(unavailable, batch, deps.output);
    const possible = experiments.filter((found) => unavailable.every((one) => one.found !== found));
    if (possible.length > 0) await runAll(possible, batch);
  } finally {
    const runs = inOrder(finished, experiments);
    await writeSharedReports(runs, options, deps.output);
    show(runs, performance.now() - began, deps);
    await annotateRuns(runs, options, { ...deps, root: project.root });
    if (options.all) checkReached(reached, options, deps);
    over.resolve();
  }
}

/** As the experiments were given, whichever ended first. */
function inOrder(finished: Batch['finished'], experiments: readonly FoundExperiment[]): readonly RunSummary[] {
  const places = new Map(experiments.map((found, index) => [found, index]));
  const placeOf = ({ found }: Batch['finished'][number]) => places.get(found) ?? 0;
  return finished.toSorted((a, b) => placeOf(a) - placeOf(b)).map(({ run }) => run);
}

function refuseKeepingSeveral({ keep = false, platforms = 1 }: ChaosRunOptions): void {
  if (!keep || platforms === 1) return;
  throw new CliError({
    code: 'invalid_usage',
    what: '--keep leaves one platform running, and --platforms asks for several',
    next: 'leave one of them out',
  });
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

async function runAll(experiments: readonly FoundExperiment[], batch: Batch): Promise<void> {
  const { project, options, deps } = batch;
  const turns = experiments.flatMap((found) => Array.from({ length: options.repeat ?? 1 }, () => found));
  const state = await runningPlatform(experiments, { project, fresh: options.fresh, deps });
  if (state === undefined) return runOnEphemeralPlatforms(turns, await platformsFor(options), batch);
  if (options.platforms !== undefined) {
    throw new CliError({
      code: 'invalid_usage',
      what: `--platforms is of ephemeral platforms, and ${project.name} runs`,
      why: 'without --fresh experiments run on the running platform, one after the other',
      next: 'add --fresh, or leave --platforms out',
    });
  }
  const unavailable = await unavailableOn(project, experiments);
  await reportUnavailable(unavailable, batch, deps.output);
  for (const found of turns.filter((turn) => unavailable.every((one) => one.found !== turn))) {
    if (endsAll(await runNext(found, project, batch, deps.output), batch)) break;
  }
  if (state.failpoints) await addReached(batch.reached, project);
}

/** The whole catalog on as many as the machine can have; what is named, and what is to be kept, on one. */
async function platformsFor({ platforms, all, keep }: ChaosRunOptions): Promise<number> {
  if (platforms !== undefined) return platforms;
  if (!all || keep) return 1;
  const memoryBytes = await availableMemory();
  return platformsOf({ cores: availableParallelism(), memoryBytes, bytesPerPlatform: PLATFORM_MEMORY_BYTES });
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
  process.exitCode = exitCodeOfAll(finished);
}

/** That of the worst verdict. What could not run is unknown, and its exit code says why. */
function exitCodeOfAll(finished: readonly RunSummary[]): number {
  const verdict = worst(finished.map((run) => run.verdict));
  const couldNotRun = finished.some(({ exitCode }) => exitCode === exitCodes.unavailable);
  return verdict === 'unknown' && couldNotRun ? exitCodes.unavailable : exitCodeOf(verdict);
}

/** The failpoints that no experiment has reached; unknown without failpoints. */
function checkReached(reached: Reached, { requireCoverage }: ChaosRunOptions, { output }: CommandDeps): void {
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
