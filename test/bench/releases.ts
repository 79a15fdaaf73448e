/**
 * `npm run bench:releases`: bad releases, each deployed to a running platform under load, nearly all as canaries of orders. It reports what
 * found each of them, when, and how many customers it hit. `aa` is the same sources, which have to be promoted. A run can be resumed. `npm run bench:releases -- --help` names options and exit codes.
 */
import { join } from 'node:path';
import { parseDuration, parsePositive } from '../../cli/src/commands/option-values.ts';
import { exitCodes } from '../../cli/src/exit-codes.ts';
import type { Output } from '../../cli/src/output/output.ts';
import { cloneRoot, openProject } from '../../cli/src/platform/project.ts';
import { createJournaledRun, findJournaledRun, type JournaledRun } from '../../cli/src/report/journaled-run.ts';
import { suggestName } from '../../cli/src/shared/suggest-name.ts';
import { benchmark, runBenchmark, usageError } from './program.ts';
import {
  appendReleasesLine,
  JOURNAL_VERSION,
  type ReleasesJournal,
  readReleases,
  waitingIn,
} from './releases/journal.ts';
import { openPlace } from './releases/place.ts';
import { describeRow, renderReleases, reportOf } from './releases/render.ts';
import { identical, trialOf, trials } from './releases/trials.ts';
import { describeMachine } from './report.ts';

const command = benchmark(
  'bench:releases',
  'Bad releases, deployed to a running platform under load: what finds each, when, and how many customers it hits. Starts a separate platform.',
)
  .option(
    '--rows <ids>',
    `releases to play, separated by commas; "${identical.id}" is the same sources (default: all bad ones)`,
  )
  .option('--repeat <n>', `rollouts of "${identical.id}" that the run has in the end`, parsePositive, 1)
  .option('--rate <n>', 'orders a second, each of them read back (default: 30)', parsePositive)
  .option('--within <time>', 'begin no row later than this', parseDuration)
  .option('--resume <run>', 'go on with this run: rows that it has are not played again')
  .option('--again', 'play rows again that the run has')
  .option('--list', 'only list the releases')
  .option('--json', 'print the figures as JSON');

const RATE = 30;

interface Options {
  readonly rows?: string;
  readonly repeat: number;
  readonly rate?: number;
  readonly within?: number;
  readonly resume?: string;
  readonly again?: boolean;
  readonly list?: boolean;
}

async function measure(options: Options, output: Output) {
  const ids = idsOf(options);
  if (options.list) {
    output.result(trials, (all) => all.map(({ id, title }) => `${id.padEnd(28)}${title}`).join('\n'));
    return exitCodes.ok;
  }
  const folder = await openRun(options);
  await playAll(ids, folder, options, output);
  const report = reportOf(await readReleases(folder.journal));
  output.result({ ...report, journal: folder.journal }, renderReleases);
  return report.misses === 0 ? exitCodes.ok : exitCodes.failed;
}

/** Throws CliError (2) for an unknown one. */
function idsOf({ rows, repeat }: Options): readonly string[] {
  const known = [...trials.map(({ id }) => id), identical.id];
  const wanted = rows?.split(',') ?? trials.map(({ id }) => id);
  const unknown = wanted.filter((id) => !known.includes(id));
  if (unknown.length > 0) {
    const nearest = suggestName(unknown[0] as string, known);
    throw usageError(
      `--rows: unknown ${unknown.join(', ')}${nearest ? `, did you mean "${nearest}"?` : ''}; there are ${known.join(', ')}`,
      command,
    );
  }
  return [...new Set(wanted)].flatMap((id) =>
    id === identical.id ? Array.from({ length: repeat }, (_, index) => `${id}#${index + 1}`) : [id],
  );
}

async function openRun({ resume, rate = RATE, ...options }: Options): Promise<JournaledRun> {
  // Beside the projects of the clone: it is there after the platform that is measured has been removed.
  const parent = join(openProject('bench-releases', cloneRoot(), process.env).stateDir, 'runs');
  if (resume !== undefined) {
    if (options.again === undefined || options.rows !== undefined)
      return findJournaledRun(parent, resume, 'npm run bench:releases');
    throw usageError('--again needs --rows: all would be played again', command);
  }
  const folder = await createJournaledRun(parent, { name: 'releases', seed: 1 });
  const { runId } = folder;
  const start = {
    type: 'releases',
    version: JOURNAL_VERSION,
    runId,
    startedAt: new Date().toISOString(),
    rate,
  } as const;
  await appendReleasesLine(folder.journal, { ...start, machine: describeMachine() });
  return folder;
}

async function playAll(ids: readonly string[], folder: JournaledRun, options: Options, output: Output): Promise<void> {
  const journal = await readReleases(folder.journal);
  refuseOtherRate(options, journal);
  const waiting = options.again ? ids : waitingIn(journal, ids);
  output.note(`run ${folder.runId}: ${waiting.length} of ${ids.length} rows to play`);
  if (waiting.length === 0) return;
  const began = performance.now();
  const hasFaults = waiting.some((id) => trialOf(id).fault !== undefined);
  const { rate } = journal.start;
  const samples = join(folder.path, 'samples');
  await using place = await openPlace({ rate, hasFaults, samples, say: (line) => output.note(line) });
  for (const id of waiting) {
    if (performance.now() - began > (options.within ?? Number.POSITIVE_INFINITY)) {
      output.note(`"npm run bench:releases -- --resume ${folder.runId}" goes on with ${id}`);
      return;
    }
    const trial = trialOf(id);
    const row = await place.play(id, trial);
    await appendReleasesLine(folder.journal, row);
    output.note(describeRow(trial, row));
  }
}

/** Rows at different rates cannot be compared. */
function refuseOtherRate({ rate }: Options, { start }: ReleasesJournal): void {
  if (rate !== undefined && rate !== start.rate)
    throw usageError(`--rate: the run ${start.runId} has ${start.rate} orders a second`, command);
}

process.exitCode = await runBenchmark(command, measure);
