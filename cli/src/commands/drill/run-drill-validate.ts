import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { findScenario, readScenarios } from '../../drills/format/catalog.ts';
import type { Scenario } from '../../drills/format/schema.ts';
import type { PlayedLine } from '../../drills/play/play-reference.ts';
import { inOrder, openOwnPlace } from '../../drills/validate/own-place.ts';
import { describeTrial, renderTrials, reportOf, suitesOf } from '../../drills/validate/report.ts';
import { runTrial, whyNot } from '../../drills/validate/run-trial.ts';
import type { TrialRecord } from '../../drills/validate/trial.ts';
import {
  appendTrialsLine,
  createTrials,
  findTrials,
  readTrials,
  TRIALS_VERSION,
  type TrialsStart,
  waitingIn,
} from '../../drills/validate/trial-journal.ts';
import { CliError } from '../../errors.ts';
import { runOnPlatforms } from '../../experiments/run/run-on-platforms.ts';
import { renderJunitSuites } from '../../output/junit.ts';
import { labelledOutput } from '../../output/labelled-output.ts';
import { createControlClient } from '../../platform/control-client.ts';
import { cloneRoot, type Project } from '../../platform/project.ts';
import type { JournaledRun } from '../../report/journaled-run.ts';
import { type ReportFiles, refuseUnwritable, writeReportFiles } from '../../report/report-files.ts';
import { formatDuration } from '../../shared/duration.ts';
import { exitCodeOf } from '../../shared/verdict.ts';
import { requirePrometheus } from '../../shop/prometheus.ts';
import { onOwnPlatforms } from '../own-platforms.ts';

export interface DrillValidateOptions extends CommonOptions, Pick<ReportFiles, 'junit'> {
  readonly all?: boolean;
  readonly reference?: boolean;
  readonly platforms?: number;
  readonly seed?: string;
  readonly resume?: string;
}

/** `shopctl drill validate`: says that files are valid, or throws CliError (2) with everything that is wrong. With --reference it plays them. */
export async function runDrillValidate(
  ids: readonly string[],
  options: DrillValidateOptions,
  deps: CommandDeps,
): Promise<void> {
  refuseUnclear(ids, options);
  const scenarios = await readScenarios(cloneRoot());
  const chosen = ids.length === 0 ? scenarios : ids.map((id) => findScenario(scenarios, id));
  if (options.reference || options.resume !== undefined) return playAll(chosen, scenarios, { options, deps });
  deps.output.result({ valid: chosen.map(({ id, level }) => ({ id, level })) }, ({ valid }) =>
    valid.length === 1 ? `${valid[0]?.id} is valid` : `${valid.length} scenarios are valid`,
  );
}

/** Throws CliError (2). */
function refuseUnclear(ids: readonly string[], options: DrillValidateOptions): void {
  const { all, reference, platforms, seed, resume, junit } = options;
  const refuse = (what: string, next: string) => {
    throw new CliError({ code: 'invalid_usage', what, next });
  };
  const plays = reference || resume !== undefined;
  if (all && ids.length > 0) refuse('--all and ids of scenarios exclude each other', 'leave one of them out');
  if (resume !== undefined && (all || ids.length > 0 || seed !== undefined))
    refuse('a run that goes on has its scenarios and its seed', 'leave --all, --seed and the ids out');
  if (!plays && (platforms ?? seed ?? junit) !== undefined)
    refuse('--platforms, --seed and --junit are about played rounds', 'add --reference');
  if (reference && resume === undefined && !all && ids.length === 0)
    refuse('nothing to play was named', 'name scenarios, or play all of them with --all: a round takes some 3 min');
}

interface Command {
  readonly options: DrillValidateOptions;
  readonly deps: CommandDeps;
}

interface Run {
  readonly folder: JournaledRun;
  readonly start: TrialsStart;
}

async function playAll(chosen: readonly Scenario[], all: readonly Scenario[], command: Command): Promise<void> {
  const { options, deps } = command;
  const project = deps.projectFrom(options);
  await refuseUnwritable(options);
  const run = await openRun(chosen, options, project);
  const waiting = waitingIn(await readTrials(run.folder.journal)).map((id) => findScenario(all, id));
  if (waiting.length > 0) {
    if (options.platforms === undefined) await playHere(waiting, all, run, project, command);
    else await playOnOwn(waiting, all, run, project, command);
  }
  const report = reportOf(await readTrials(run.folder.journal));
  await writeReportFiles(options, { junit: () => renderJunitSuites(suitesOf(report)) });
  deps.output.result({ run: run.start.runId, ...report, journal: run.folder.journal }, () =>
    renderTrials(report, deps.output.style),
  );
  process.exitCode ||= exitCodeOf(report.verdict);
}

/** A new run, or the one that goes on. */
async function openRun(chosen: readonly Scenario[], options: DrillValidateOptions, project: Project): Promise<Run> {
  if (options.resume !== undefined) {
    const folder = await findTrials(project, options.resume);
    return { folder, start: (await readTrials(folder.journal)).start };
  }
  const folder = await createTrials(project);
  const start: TrialsStart = {
    type: 'trials',
    version: TRIALS_VERSION,
    runId: folder.runId,
    startedAt: new Date().toISOString(),
    ...(options.seed !== undefined && { seed: options.seed }),
    scenarios: chosen.map(({ id }) => id),
  };
  await appendTrialsLine(folder.journal, start);
  return { folder, start };
}

/** On the running platform, one after the other. */
async function playHere(
  waiting: readonly Scenario[],
  scenarios: readonly Scenario[],
  run: Run,
  project: Project,
  { deps }: Command,
): Promise<void> {
  const { output, env, signal } = deps;
  const state = await createControlClient(project).state();
  requirePrometheus(state);
  const missing = waiting.flatMap((scenario) => {
    const why = whyNot(scenario, state);
    return why === undefined ? [] : [`${scenario.id}: ${why}`];
  });
  if (missing.length > 0) {
    throw new CliError({
      code: 'drill_not_started',
      what: 'the running platform cannot have these scenarios',
      why: missing.join('\n'),
      next: 'play them on an ephemeral platform: --platforms 1',
    });
  }
  const { seed } = run.start;
  const over = Promise.withResolvers<void>();
  // The first Ctrl-C aborts the signal: the round is aborted, and reverted.
  deps.onInterrupt(() => over.promise);
  try {
    for (const scenario of waiting) {
      const common = { project, scenario, scenarios, env, signal, onPlayed: sayPlayed(scenario.id, output) };
      await keep(await runTrial({ ...common, ...(seed !== undefined && { seed }) }), run, output);
    }
  } finally {
    over.resolve();
    if (signal.aborted) output.note(`"shopctl drill validate --resume ${run.start.runId}" goes on`);
  }
}

async function playOnOwn(
  waiting: readonly Scenario[],
  scenarios: readonly Scenario[],
  run: Run,
  project: Project,
  { options, deps }: Command,
): Promise<void> {
  const { output, signal } = deps;
  const { seed, runId } = run.start;
  const own = {
    // Without a count it would go on on the running platform.
    command: `shopctl drill validate --resume ${runId} --platforms ${options.platforms}`,
    project,
    end: (line: Parameters<typeof appendTrialsLine>[1] & { readonly type: 'end' }) =>
      appendTrialsLine(run.folder.journal, line),
  };
  const platforms = Math.min(options.platforms ?? 1, waiting.length);
  await onOwnPlatforms(own, deps, async () => {
    output.note(`${waiting.length} scenarios on ${platforms} platforms, run ${runId}`);
    await runOnPlatforms(inOrder(waiting), {
      platforms,
      signal,
      async open(number) {
        const labelled = labelledOutput(output, String(number));
        const onPlayed = sayPlayed('', labelled);
        return openOwnPlace(
          { project, number, output: labelled, scenarios, onPlayed, ...(seed !== undefined && { seed }) },
          deps,
        );
      },
      mayGoOn: ({ isQuiet }) => isQuiet,
      nameOf: ({ id }) => id,
      onRecord: (trial) => keep(trial, run, output),
      onTrouble: (number, problem) => output.warn(`platform ${number}: ${problem}`),
    });
  });
}

async function keep(trial: TrialRecord, { folder }: Run, output: CommandDeps['output']): Promise<void> {
  await appendTrialsLine(folder.journal, trial);
  output.note(describeTrial(trial));
}

function sayPlayed(id: string, output: CommandDeps['output']): (line: PlayedLine) => void {
  return ({ played, tookMs, problem }) => {
    const how = problem === undefined ? formatDuration(tookMs) : problem;
    output.note(`${id}  ${played} (${how})`.trim());
  };
}
