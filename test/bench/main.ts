/**
 * `npm run bench`: measures groups of rows side by side, prints each as soon as it is finished and writes it into
 * docs/performance.md. It goes on with the others when one cannot be measured. Side effects: separate platforms
 * (projects bench-*), processes, that file. `npm run bench -- --help` names options and exit codes.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { InvalidArgumentError, Option } from 'commander';
import { parsePositive } from '../../cli/src/commands/option-values.ts';
import type { Output } from '../../cli/src/output/output.ts';
import {
  findEmbeddedPackage,
  findInstalledPostgres,
  openEmbeddedPostgres,
} from '../../cli/src/providers/postgres/binaries.ts';
import { openBench } from './bench.ts';
import { type Group, groups } from './groups.ts';
import { exitCodeOf, measureGroups } from './measure-groups.ts';
import { benchmark, runBenchmark, usageError } from './program.ts';
import { describeMachine, type Finished, replaceSection, toMarkdown } from './report.ts';

const PAGE = new URL('../../docs/performance.md', import.meta.url);
/** The longest shot, in s. */
const MAX_SECONDS = 600;

interface Options {
  readonly rows: readonly Group[];
  readonly rounds?: number;
  /** Length of a shot. */
  readonly seconds?: number;
  readonly quick?: boolean;
  readonly json?: boolean;
  readonly write?: boolean;
}

const command = benchmark(
  'bench',
  'Measures groups of rows side by side, and writes their tables into docs/performance.md.',
)
  .addOption(
    new Option('--rows <keys>', `groups, separated by commas: ${known(', ')}`)
      .argParser(parseRows)
      .default(groups, 'all of them'),
  )
  .option('--rounds <n>', 'rounds (3; 1 with --quick)', parsePositive)
  .option('--seconds <s>', `length of a shot, at most ${MAX_SECONDS} (8; 1 with --quick)`, parseShot)
  .option('--quick', 'short shots and small tables: proves that everything runs; misses no target, writes nothing')
  .option('--json', 'print the figures as JSON, at the end')
  .option('--write', 'write the tables (the default)')
  .option('--no-write', 'only print');

function parseRows(text: string): readonly Group[] {
  return text.split(',').map((key) => {
    const group = groups.find((one) => one.key === key);
    if (group === undefined) throw new InvalidArgumentError(`no group "${key}"; known: ${known(', ')}`);
    return group;
  });
}

function known(separator: string): string {
  return groups.map(({ key, title }) => `${key} (${title})`).join(separator);
}

function parseShot(text: string): number {
  const seconds = Number(text);
  if (seconds > 0 && seconds <= MAX_SECONDS) return seconds;
  throw new InvalidArgumentError(`expected a number of seconds above 0, at most ${MAX_SECONDS}`);
}

/** Of the server that the platforms of the bench have: settings of the user's are not for them. */
async function postgresVersion(): Promise<string> {
  const installed = await findInstalledPostgres(process.env);
  if (installed !== undefined) return installed.version;
  const root = findEmbeddedPackage();
  return root === undefined ? 'unknown' : (await openEmbeddedPostgres(root)).version;
}

async function keep(group: Finished, text: string): Promise<void> {
  await writeFile(PAGE, replaceSection(await readFile(PAGE, 'utf8'), group.key, text));
}

async function measure({ quick = false, ...options }: Options, output: Output) {
  if (quick && options.write) throw usageError('--quick measures too little to be written: leave out --write', command);
  const { rows, rounds = quick ? 1 : 3, seconds = quick ? 1 : 8, write = !quick } = options;
  const run = { machine: describeMachine(), postgres: await postgresVersion(), rounds, quick };
  await using bench = openBench({ rounds, shotMs: seconds * 1000, quick }, output.note);
  const outcome = await measureGroups(rows, bench, {
    async finished(group) {
      const text = toMarkdown(group, run);
      if (output.mode === 'text') output.record(group, () => `${text}\n`);
      if (write) await keep(group, text);
    },
    failed: ({ key, error }) => {
      output.note(`${key}: failed`);
      output.error(error);
    },
  });
  const { finished, failed } = outcome;
  if (output.mode === 'json') output.result({ ...run, groups: finished, failed }, () => '');
  else if (failed.length > 0) output.warn(`failed: ${[...new Set(failed.map(({ key }) => key))].join(', ')}`);
  return exitCodeOf(outcome, { quick });
}

process.exitCode = await runBenchmark(command, measure);
