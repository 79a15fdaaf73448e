import { pageBurnsOf } from '../../alert-matrix/burns.ts';
import { createAlertRun, findAlertRun } from '../../alert-matrix/run-folders.ts';
import { evaluateSilent } from '../../alert-matrix/silent/evaluate.ts';
import {
  appendSilentLine,
  readSilentJournal,
  SILENT_VERSION,
  type SilentStart,
  type SituationRecord,
} from '../../alert-matrix/silent/journal.ts';
import { openSituationPlace } from '../../alert-matrix/silent/place.ts';
import { renderSilent, renderSilentHtml, silentAsJson, suiteOfSilent } from '../../alert-matrix/silent/render.ts';
import {
  durationOf,
  needsMachine,
  type Pass,
  passesOf,
  planSituations,
  type Situation,
} from '../../alert-matrix/silent/situations.ts';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { runOnPlatforms } from '../../experiments/run/run-on-platforms.ts';
import { renderJunitSuites } from '../../output/junit.ts';
import { labelledOutput } from '../../output/labelled-output.ts';
import { formatTable } from '../../output/table.ts';
import type { Project } from '../../platform/project.ts';
import type { JournaledRun } from '../../report/journaled-run.ts';
import type { PartEnd } from '../../report/line-journal.ts';
import { type ReportFiles, refuseUnwritable, writeReportFiles } from '../../report/report-files.ts';
import { formatDuration } from '../../shared/duration.ts';
import { exitCodeOf } from '../../shared/verdict.ts';
import { readSlos } from '../../slo/catalog.ts';
import { profiles } from '../../slo/profiles.ts';
import { onOwnPlatforms, platformsFor } from '../own-platforms.ts';

export interface SilentOptions extends CommonOptions, ReportFiles {
  readonly only?: readonly string[];
  readonly scale?: number;
  readonly knee?: number;
  readonly parallel?: number;
  readonly seed?: number;
  readonly resume?: string;
  readonly dryRun?: boolean;
}

/** `shopctl alerts silent`. */
export async function runSilentCommand(options: SilentOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  const { output } = deps;
  if (options.dryRun) return showPlan(options, deps);
  await refuseUnwritable(options);
  const { folder, start, records } = await openRun(options, project);
  const waiting = start.situations.filter(({ name }) => !records.some((record) => isEvidence(record, name)));
  if (waiting.length > 0) await measureAll(waiting, { folder, start }, { options, project, deps });
  const report = evaluateSilent(await readSilentJournal(folder.journal));
  await writeReportFiles(options, {
    junit: () => renderJunitSuites([suiteOfSilent(report)]),
    html: () => renderSilentHtml(report),
  });
  output.result({ ...silentAsJson(report), journal: folder.journal }, () => renderSilent(report, output.style));
  process.exitCode ||= exitCodeOf(report.verdict);
}

function planOf({ only, scale = 1, knee }: SilentOptions) {
  return planSituations({ only, scale, knee });
}

function showPlan(options: SilentOptions, { output }: CommandDeps): void {
  const { situations, leftOut } = planOf(options);
  const totalMs = situations.reduce((sum, one) => sum + durationOf(one), 0);
  const alone = situations.filter(needsMachine).map(({ name }) => name);
  output.result({ situations, alone, leftOut, totalMs }, () =>
    [
      formatTable(
        ['SITUATION', 'TAKES', 'MACHINE'],
        situations.map((one) => [one.name, formatDuration(durationOf(one)), needsMachine(one) ? 'alone' : 'shared']),
      ),
      ...leftOut.map((name) => `left out: ${name}, which needs --knee`),
      `${formatDuration(totalMs)} in all, on one platform`,
    ].join('\n'),
  );
}

interface Run {
  readonly folder: JournaledRun;
  readonly start: SilentStart;
}

/** A new run, or the one that goes on. */
async function openRun(
  options: SilentOptions,
  project: Project,
): Promise<Run & { readonly records: readonly SituationRecord[] }> {
  if (options.resume !== undefined) {
    const folder = await findAlertRun(project, 'silent', options.resume);
    return { folder, ...(await readSilentJournal(folder.journal)) };
  }
  const plan = planOf(options);
  const seed = options.seed ?? 1;
  const folder = await createAlertRun(project, 'silent', seed);
  const start: SilentStart = {
    type: 'silent',
    version: SILENT_VERSION,
    runId: folder.runId,
    startedAt: new Date().toISOString(),
    seed,
    scale: options.scale ?? 1,
    ...plan,
    burns: pageBurnsOf(await readSlos(project.root)),
    guard: profiles.laptop.guard,
  };
  await appendSilentLine(folder.journal, start);
  return { folder, start, records: [] };
}

/** What was measured without evidence is measured again. */
function isEvidence({ situation, problems }: SituationRecord, name: string): boolean {
  return situation.name === name && problems.length === 0;
}

async function measureAll(
  waiting: readonly Situation[],
  { folder, start }: Run,
  {
    options,
    project,
    deps,
  }: { readonly options: SilentOptions; readonly project: Project; readonly deps: CommandDeps },
): Promise<void> {
  const { output, signal } = deps;
  const { seed, runId } = start;
  const run = {
    command: `shopctl alerts silent --resume ${runId}`,
    project,
    end: (end: PartEnd) => appendSilentLine(folder.journal, end),
  };
  await onOwnPlatforms(run, deps, async () => {
    const passes = passesOf(waiting, options.parallel ?? (await platformsFor()));
    output.note(`situations: ${passes.map(describePass).join(', then ')}; run ${runId}`);
    for (const pass of passes) {
      await runOnPlatforms(pass.situations, {
        platforms: pass.platforms,
        signal,
        open: (number) => {
          const own = labelledOutput(output, String(number));
          return openSituationPlace({ project, number, seed, runId, output: own }, deps);
        },
        // The next situation begins with the start of its platform.
        mayGoOn: () => false,
        nameOf: ({ name }) => name,
        async onRecord(record) {
          await appendSilentLine(folder.journal, record);
          output.note(describeRecord(record));
        },
        onTrouble: (number, problem) => output.warn(`platform ${number}: ${problem}`),
      });
    }
  });
}

/** `8 on 4 platforms` */
function describePass({ situations, platforms }: Pass): string {
  return `${situations.length} on ${platforms === 1 ? 'one platform' : `${platforms} platforms`}`;
}

/** `idle: no page` */
function describeRecord({ situation, firings, problems }: SituationRecord): string {
  const pages = firings.filter(({ severity }) => severity === 'page').map(({ alertname }) => alertname);
  return `${situation.name}: ${problems.join('; ') || pages.join(', ') || 'no page'}`;
}
