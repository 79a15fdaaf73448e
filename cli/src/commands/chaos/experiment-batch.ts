import type { AnnotationOptions, CommandDeps, CommonOptions } from '../../command-context.ts';
import type { FoundExperiment } from '../../experiments/format/catalog.ts';
import { describeFaults } from '../../experiments/run/faults-in-effect.ts';
import { recordUnavailable, refuseUnavailable, type Unavailable } from '../../experiments/run/host-requirements.ts';
import { createProgressReporter } from '../../experiments/run/progress-reporter.ts';
import type { Reached } from '../../experiments/run/reached.ts';
import { type FinishedRun, runOne } from '../../experiments/run/run-one.ts';
import { writeReports } from '../../experiments/run/write-reports.ts';
import { paintVerdict } from '../../output/check.ts';
import type { Output } from '../../output/output.ts';
import type { Project } from '../../platform/project.ts';
import type { ReportFiles } from '../../report/report-files.ts';
import { formatDuration } from '../../shared/duration.ts';

export interface ChaosRunOptions extends CommonOptions, AnnotationOptions, ReportFiles {
  readonly tag?: readonly string[];
  readonly all?: boolean;
  readonly seed?: number;
  /** `name=value` */
  readonly set?: readonly string[];
  readonly seedBug?: readonly string[];
  readonly dryRun?: boolean;
  readonly keep?: boolean;
  readonly repeat?: number;
  readonly fresh?: boolean;
  readonly failFast?: boolean;
  readonly requireCoverage?: boolean;
  /** How many ephemeral platforms run side by side. */
  readonly platforms?: number;
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

/** The experiments of one command, and what came of them. */
export interface Batch {
  readonly project: Project;
  readonly options: ChaosRunOptions;
  readonly deps: CommandDeps;
  /** In the order in which they ended. */
  readonly finished: { readonly found: FoundExperiment; readonly run: RunSummary }[];
  /** Over every platform that was used. */
  readonly reached: Reached;
}

/** With --all or --tag the available experiments run and the others are reported; they never count as a pass. */
export function asksForWhatThereIs({ all, tag }: ChaosRunOptions): boolean {
  return all === true || tag !== undefined;
}

/** Reports those that are not available; throws CliError (3) when they were named. */
export async function reportUnavailable(
  unavailable: readonly Unavailable[],
  batch: Batch,
  output: Output,
): Promise<void> {
  if (!asksForWhatThereIs(batch.options)) refuseUnavailable(unavailable);
  const { project, options } = batch;
  for (const one of unavailable) {
    const { experiment } = one.found;
    output.note(`${output.style.bold(experiment.id)} ${experiment.title}`);
    await conclude(one.found, await recordUnavailable(one, { project, seed: options.seed }), batch, output);
  }
}

/** Whether nothing further is to be run. What is left on a platform of the run's own goes with the platform. */
export function endsAll(
  { verdict }: Pick<FinishedRun, 'verdict'>,
  { options }: Batch,
  { isEphemeral = false }: { isEphemeral?: boolean } = {},
): boolean {
  if (verdict === 'interrupted' || (verdict === 'dirty' && !isEphemeral)) return true;
  return options.failFast === true && verdict !== 'pass';
}

/** Runs one experiment on a platform that is ready, and concludes it. */
export async function runNext(
  found: FoundExperiment,
  platformProject: Project,
  batch: Batch,
  output: Output,
): Promise<FinishedRun> {
  const { project, options, deps } = batch;
  const { file, experiment } = found;
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
    onEvent: createProgressReporter(output),
  });
  await conclude(found, run, batch, output);
  return run;
}

/** Writes the reports of a run and prints its result. */
export async function conclude(
  found: FoundExperiment,
  run: FinishedRun,
  { finished }: Batch,
  output: Output,
): Promise<void> {
  const report = await writeReports(run.folder, output);
  const { id, verdict, exitCode, reasons, faults, tookMs, folder } = run;
  finished.push({ found, run: { id, verdict, exitCode, reasons, faults, tookMs, journal: folder.journal, report } });
  const summary = `${paintVerdict(verdict, output.style)} in ${formatDuration(tookMs)}, ${describeFaults(faults)}`;
  output.note(`  ${summary}${reasonLines(reasons)}`);
}

function reasonLines(reasons: readonly string[]): string {
  return reasons.map((reason) => `\n    ${reason}`).join('');
}
