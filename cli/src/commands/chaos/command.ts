import { type Command, Option } from 'commander';
import { DEFAULT_TTL_MS } from '../../chaos/lease.ts';
import {
  type CommonOptions,
  effects,
  type Register,
  withAnnotations,
  withCommonOptions,
} from '../../command-context.ts';
import { writeDuration } from '../../shared/duration.ts';
import { parseCount, parseDuration, parsePlatforms, parsePositive, parseSeededBugNames } from '../option-values.ts';
import type { ChaosRunOptions } from './experiment-batch.ts';
import type { ChaosListOptions, ChaosShowOptions } from './run-catalog.ts';
import type { ChaosClearOptions } from './run-chaos-clear.ts';
import type { ChaosCoverageOptions } from './run-chaos-coverage.ts';
import type { ChaosInjectOptions } from './run-chaos-inject.ts';
import type { ChaosMatrixOptions } from './run-chaos-matrix.ts';
import type { ChaosReportOptions } from './run-chaos-report.ts';

export const register: Register = (program, deps) => {
  const chaos = program.command('chaos').description('inject faults and revert them; run experiments');
  addRun(chaos, deps);
  addMatrix(chaos, deps);
  addInject(chaos, deps);
  addCoverage(chaos, deps);
  addCatalogue(chaos, deps);

  withCommonOptions(chaos.command('status'))
    .description('list active faults with their remaining time and what was measured')
    .addHelpText('after', effects('none, reads only', '0, 2, 4'))
    .action(async (options: CommonOptions) => {
      const { runChaosStatus } = await import('./run-chaos-status.ts');
      await runChaosStatus(options, deps);
    });

  withCommonOptions(chaos.command('clear'))
    .description('revert active faults before their TTL expires')
    .argument('[id...]', 'ids of faults (see "shopctl chaos status")')
    .option('-a, --all', 'revert all faults, including those of a crashed supervisor (idempotent)')
    .addHelpText(
      'after',
      effects(
        'reverts faults of the running platform; with --all also those of a killed supervisor',
        '0, 2, 4, 6 (a fault could not be reverted)',
      ),
    )
    .action(async (ids: readonly string[], options: ChaosClearOptions) => {
      const { runChaosClear } = await import('./run-chaos-clear.ts');
      await runChaosClear(ids, options, deps);
    });

  withCommonOptions(chaos.command('faults'))
    .description('list faults with their targets and parameters')
    .addHelpText('after', effects('none, reads only', '0, 2'))
    .action(async (options: CommonOptions) => {
      const { runChaosFaults } = await import('./run-chaos-faults.ts');
      await runChaosFaults(options, deps);
    });
};

function addCoverage(chaos: Command, deps: Parameters<Register>[1]): void {
  withCommonOptions(chaos.command('coverage'))
    .description('list the failpoints of the services and how often each was passed and acted')
    .addOption(new Option('--require <what>', 'exit with 1 when a failpoint was never passed').choices(['all']))
    .option('--reset', 'reset the counts after printing them')
    .addHelpText(
      'after',
      effects(
        'none; with --reset clears the counts',
        '0, 1 (--require: a failpoint was never passed), 2, 3 (without failpoints), 4',
      ),
    )
    .action(async (options: ChaosCoverageOptions) => {
      const { runChaosCoverage } = await import('./run-chaos-coverage.ts');
      await runChaosCoverage(options, deps);
    });
}

/** Without the parameters of faults: `addFaultOptions` adds them. */
function addInject(chaos: Command, deps: Parameters<Register>[1]): void {
  withCommonOptions(chaos.command('inject'))
    .description('inject a fault; it is reverted when its TTL expires')
    .argument('<target>', 'an edge, service, instance or component; or all in one: TARGET:FAULT[,NAME=VALUE...]')
    .argument('[fault]', 'fault type (see "shopctl chaos faults")')
    .addOption(
      new Option('--ttl <duration>', 'revert the fault after this time')
        .argParser(parseDuration)
        .default(DEFAULT_TTL_MS, writeDuration(DEFAULT_TTL_MS)),
    )
    .option('--hold', 'keep running until Ctrl-C, and revert the fault when this command ends')
    .addHelpText(
      'after',
      effects(
        'changes the running platform until the fault ends',
        '0; 2 before anything has happened; 3 not available here; 4; 5 injected, but not measurably in effect; 6 could not be reverted; 130 and reverted',
      ),
    )
    .action(async (target: string, fault: string | undefined, options: ChaosInjectOptions) => {
      const { runChaosInject } = await import('./run-chaos-inject.ts');
      await runChaosInject(target, fault, options, deps);
    });
}

/** Runs of experiments. */
function addRun(chaos: Command, deps: Parameters<Register>[1]): void {
  const collect = (value: string, earlier: readonly string[] = []) => [...earlier, value];

  withAnnotations(withCommonOptions(chaos.command('run')))
    .description('run experiments on the running platform, or on an ephemeral one, and print verdicts')
    .argument('[experiment...]', 'ids (see "shopctl chaos list") or paths of files')
    .option('-t, --tag <tag>', 'run experiments with this tag; may be repeated', collect)
    .option('-a, --all', 'run the whole catalog')
    .option('--seed <number>', 'override the seed of the file', parseCount)
    .option('--set <name=value>', 'override a value of the configuration; may be repeated', collect)
    .option('--seed-bug <bug>', 'start the services with a seeded bug; may be repeated', parseSeededBugNames)
    .option('--dry-run', 'print what would be done')
    .option('--fresh', 'use an ephemeral platform even when one runs')
    .option(
      '--platforms <count>',
      'run on N ephemeral platforms concurrently (default: 1; with --all by cores and memory)',
      parsePlatforms,
    )
    .option('--keep', 'leave the ephemeral platform running')
    .option('--repeat <count>', 'repeat each experiment N times and compare verdicts', parsePositive)
    .option('--require-coverage', 'with --all: exit with 1 when a failpoint was never reached')
    .option('--fail-fast', 'stop after the first verdict other than pass')
    .option('--junit <file>', 'write JUnit XML of all runs')
    .option('--html <file>', 'write the report of the last run')
    .addHelpText(
      'after',
      effects(
        'faults on the running platform, all reverted; or ephemeral platforms, ended with it; writes .shop/<project>/chaos/runs/',
        'that of the worst verdict: 0 pass, 1 fail, 5 unknown, 6 dirty, 130 interrupted and clean; 3 when an ephemeral platform did not start; 2 and 3 before anything has happened',
      ),
    )
    .action(async (names: readonly string[], options: ChaosRunOptions) => {
      const { runChaosRun } = await import('./run-chaos-run.ts');
      await buildForOwnPlatform(options, deps);
      await runChaosRun(names, options, deps);
    });

  withCommonOptions(chaos.command('runs'))
    .description('list past runs and their verdicts')
    .addHelpText('after', effects('none, reads only', '0, 2'))
    .action(async (options: CommonOptions) => {
      const { runChaosRuns } = await import('./run-chaos-runs.ts');
      await runChaosRuns(options, deps);
    });

  withCommonOptions(chaos.command('report'))
    .description('write reports of a run from its journal')
    .argument('[run]', 'id of the run (see "shopctl chaos runs"; default: the last)')
    .option('--html <file>', 'write one self-contained page with the timeline')
    .option('--junit <file>', 'write JUnit XML')
    .option('--markdown <file>', 'write a short summary (default: print it)')
    .addHelpText('after', effects('writes the files that its options name', '0, 2'))
    .action(async (runId: string | undefined, options: ChaosReportOptions) => {
      const { runChaosReport } = await import('./run-chaos-report.ts');
      await runChaosReport(runId, options, deps);
    });
}

function addMatrix(chaos: Command, deps: Parameters<Register>[1]): void {
  const collect = (value: string, earlier: readonly string[] = []) => [...earlier, value];

  withCommonOptions(chaos.command('matrix'))
    .description('run every fault at every failpoint and minimize failing combinations')
    .option('--fault <name>', 'run only this fault; may be repeated', collect)
    .option('--target <target>', 'run only faults on this target; may be repeated', collect)
    .option('--at <name>', 'hold orders at this failpoint only, like stock-reserved:unsaved; may be repeated', collect)
    .option('--sample <count>', 'run a sample of N cells, chosen by the seed', parsePositive)
    .option('--seed <number>', 'seed of the order of rounds and of the sample (default: 1)', parseCount)
    .option('--budget <duration>', 'start no round that would not end within this time', parseDuration)
    .option('--seed-bug <bug>', 'start the services with a seeded bug; may be repeated', parseSeededBugNames)
    .option('--dry-run', 'print what would be done')
    .option('--fresh', 'use an ephemeral platform even when one runs')
    .option('--junit <file>', 'write JUnit XML with a test case per cell')
    .option('--html <file>', 'write the table as a page')
    .addHelpText(
      'after',
      effects(
        'those of "chaos run"',
        'those of "chaos run"; a cell that there was no time for is reported and does not count',
      ),
    )
    .action(async (options: ChaosMatrixOptions) => {
      const { runChaosMatrix } = await import('./run-chaos-matrix.ts');
      await buildForOwnPlatform(options, deps);
      await runChaosMatrix(options, deps);
    });
}

/** Before anything else: a command that was rebuilt is restarted. */
async function buildForOwnPlatform(
  options: CommonOptions & { readonly fresh?: boolean; readonly dryRun?: boolean },
  { env, output, projectFrom }: Parameters<Register>[1],
): Promise<void> {
  if (!options.fresh || options.dryRun) return;
  const { continueAsBuilt } = await import('../../platform/continue-as-built.ts');
  await continueAsBuilt(projectFrom(options), { env, say: (line) => output.note(line) });
}

/** Experiments as files; none is run. */
function addCatalogue(chaos: Command, deps: Parameters<Register>[1]): void {
  const collect = (value: string, earlier: readonly string[] = []) => [...earlier, value];

  withCommonOptions(chaos.command('list'))
    .description('list the experiments of the catalog')
    .option('-t, --tag <tag>', 'list only experiments with this tag; may be repeated', collect)
    .addHelpText('after', effects('none, reads only', '0, 2'))
    .action(async (options: ChaosListOptions) => {
      const { runChaosList } = await import('./run-catalog.ts');
      await runChaosList(options, deps);
    });

  withCommonOptions(chaos.command('show'))
    .description('show one experiment: purpose, steps, bounds, what must and must not happen')
    .argument('<experiment>', 'id (see "shopctl chaos list") or path of a file')
    .option('--set <name=value>', 'override a value of its configuration; may be repeated', collect)
    .addHelpText('after', effects('none, reads only', '0, 2'))
    .action(async (name: string, options: ChaosShowOptions) => {
      const { runChaosShow } = await import('./run-catalog.ts');
      await runChaosShow(name, options, deps);
    });

  withCommonOptions(chaos.command('validate'))
    .description('validate experiments and list every problem with its line')
    .argument('[experiment...]', 'ids and paths of files (default: the whole catalog)')
    .addHelpText('after', effects('none, reads only', '0, 2 (with every problem)'))
    .action(async (names: readonly string[], options: CommonOptions) => {
      const { runChaosValidate } = await import('./run-catalog.ts');
      await runChaosValidate(names, options, deps);
    });
}
