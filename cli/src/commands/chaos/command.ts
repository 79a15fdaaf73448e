import { type Command, Option } from 'commander';
import { DEFAULT_TTL_MS } from '../../chaos/lease.ts';
import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';
import { writeDuration } from '../../shared/duration.ts';
import { parseCount, parseDuration, parsePositive, parseSeededBugNames } from '../option-values.ts';

export interface ChaosInjectOptions extends CommonOptions {
  /** ms. */
  readonly ttl: number;
  readonly hold?: boolean;
  /** What remains are the fault's own parameters, by their names. */
  readonly [parameter: string]: unknown;
}

export interface ChaosClearOptions extends CommonOptions {
  readonly all?: boolean;
}

export interface ChaosListOptions extends CommonOptions {
  readonly tag?: readonly string[];
}

export interface ChaosShowOptions extends CommonOptions {
  /** `name=value` */
  readonly set?: readonly string[];
}

export interface ChaosCoverageOptions extends CommonOptions {
  readonly reset?: boolean;
  readonly require?: 'all';
}

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

export interface ChaosMatrixOptions extends CommonOptions {
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
  readonly junit?: string;
  readonly html?: string;
}

export interface ChaosReportOptions extends CommonOptions {
  readonly html?: string;
  readonly junit?: string;
  readonly markdown?: string;
}

export const register: Register = (program, deps) => {
  const chaos = program.command('chaos').description('inject faults and take them back');
  addRun(chaos, deps);
  addMatrix(chaos, deps);
  addInject(chaos, deps);
  addCoverage(chaos, deps);
  addCatalogue(chaos, deps);

  withCommonOptions(chaos.command('status'))
    .description('faults that act on the platform, with their remaining time and what was measured of them')
    .addHelpText('after', effects('none, reads only', '0, 2, 4'))
    .action(async (options: CommonOptions) => {
      const { runChaosStatus } = await import('./run-chaos-status.ts');
      await runChaosStatus(options, deps);
    });

  withCommonOptions(chaos.command('clear'))
    .description('take faults back before their time is over')
    .argument('[id...]', 'ids of faults, as status shows them')
    .option('-a, --all', 'all of them')
    .addHelpText(
      'after',
      effects('reverts faults of the running platform', '0, 2, 4, 6 (a fault could not be reverted)'),
    )
    .action(async (ids: readonly string[], options: ChaosClearOptions) => {
      const { runChaosClear } = await import('./run-chaos-end.ts');
      await runChaosClear(ids, options, deps);
    });

  withCommonOptions(chaos.command('heal'))
    .description('take everything back, also what a killed supervisor left; may be repeated')
    .addHelpText(
      'after',
      effects('reverts every fault, also those of a killed supervisor', '0, 2, 4, 6 (a fault could not be reverted)'),
    )
    .action(async (options: CommonOptions) => {
      const { runChaosHeal } = await import('./run-chaos-end.ts');
      await runChaosHeal(options, deps);
    });

  withCommonOptions(chaos.command('faults'))
    .description('what can be injected where, with its parameters')
    .addHelpText('after', effects('none, reads only', '0, 2'))
    .action(async (options: CommonOptions) => {
      const { runChaosFaults } = await import('./run-chaos-faults.ts');
      await runChaosFaults(options, deps);
    });
};

function addCoverage(chaos: Command, deps: Parameters<Register>[1]): void {
  withCommonOptions(chaos.command('coverage'))
    .description('failpoints of the services: where they are, how often each was passed and acted')
    .addOption(new Option('--require <what>', 'exit code 1 when a failpoint was never passed').choices(['all']))
    .option('--reset', 'let the counts begin anew, after they were printed')
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
    .description('inject a fault; it ends by itself when its time is over')
    .argument('<target>', 'an edge, a service or instance, a component; or all of it: TARGET:FAULT[,NAME=VALUE...]')
    .argument('[fault]', 'what is to happen there ("shopctl chaos faults" lists targets and faults)')
    .addOption(
      new Option('--ttl <duration>', 'when it ends by itself')
        .argParser(parseDuration)
        .default(DEFAULT_TTL_MS, writeDuration(DEFAULT_TTL_MS)),
    )
    .option('--hold', 'stay until Ctrl-C; the fault ends with this command, however it ends')
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

/** Experiments that are run. */
function addRun(chaos: Command, deps: Parameters<Register>[1]): void {
  const collect = (value: string, earlier: readonly string[] = []) => [...earlier, value];

  withCommonOptions(chaos.command('run'))
    .description('run experiments, on the running platform or on one of their own, and give verdicts')
    .argument('[experiment...]', 'ids of "shopctl chaos list", or paths of files')
    .option('-t, --tag <tag>', 'experiments with this tag; may be repeated', collect)
    .option('-a, --all', 'the whole catalog')
    .option('--seed <number>', "instead of the file's seed", parseCount)
    .option('--set <name=value>', 'another value for the configuration; may be repeated', collect)
    .option('--seed-bug <bug>', 'start the services with a seeded bug; may be repeated', parseSeededBugNames)
    .option('--dry-run', 'only say what would be done')
    .option('--fresh', 'on a platform of their own, also when one runs')
    .option('--keep', 'leave the platform of their own running')
    .option('--repeat <count>', 'each experiment so many times, and whether the verdicts are equal', parsePositive)
    .option('--require-coverage', 'with --all: exit code 1 when a failpoint was never reached')
    .option('--fail-fast', 'end with the first verdict that is not pass')
    .option('--junit <file>', 'write JUnit XML of all runs')
    .option('--html <file>', 'write the report of the last run')
    .addHelpText(
      'after',
      effects(
        'faults on the running platform, all reverted; or a platform of the run, ended with it; writes .shop/<project>/chaos/runs/',
        'that of the worst verdict: 0 pass, 1 deviated, 5 unknown, 6 dirty, 130 interrupted and clean; 2 and 3 before anything has happened',
      ),
    )
    .action(async (names: readonly string[], options: ChaosRunOptions) => {
      const { runChaosRun } = await import('./run-chaos-run.ts');
      await buildForOwnPlatform(options, deps);
      await runChaosRun(names, options, deps);
    });

  withCommonOptions(chaos.command('runs'))
    .description('runs there are, with their verdicts')
    .addHelpText('after', effects('none, reads only', '0, 2'))
    .action(async (options: CommonOptions) => {
      const { runChaosRuns } = await import('./run-chaos-runs.ts');
      await runChaosRuns(options, deps);
    });

  withCommonOptions(chaos.command('report'))
    .description('the reports of a run again, from its journal')
    .argument('[run]', 'as "shopctl chaos runs" names it (default: the last)')
    .option('--html <file>', 'one self-contained page with the timeline')
    .option('--junit <file>', 'JUnit XML')
    .option('--markdown <file>', 'a short summary (default: printed)')
    .addHelpText('after', effects('writes the files that its options name', '0, 2'))
    .action(async (runId: string | undefined, options: ChaosReportOptions) => {
      const { runChaosReport } = await import('./run-chaos-report.ts');
      await runChaosReport(runId, options, deps);
    });
}

function addMatrix(chaos: Command, deps: Parameters<Register>[1]): void {
  const collect = (value: string, earlier: readonly string[] = []) => [...earlier, value];

  withCommonOptions(chaos.command('matrix'))
    .description('every fault while an order is held at every boundary; what fails is shrunk to the smallest that does')
    .option('--fault <name>', 'this fault only; may be repeated', collect)
    .option('--target <target>', 'faults aimed at this only; may be repeated', collect)
    .option('--at <name>', 'hold orders at this failpoint only, like stock-reserved:unsaved; may be repeated', collect)
    .option('--sample <count>', 'so many cells, chosen by the seed', parsePositive)
    .option('--seed <number>', 'of the order of rounds and boundaries, and of the sample (default: 1)', parseCount)
    .option('--budget <duration>', 'begin nothing that would not end in this time', parseDuration)
    .option('--seed-bug <bug>', 'start the services with a seeded bug; may be repeated', parseSeededBugNames)
    .option('--dry-run', 'only say what would be done')
    .option('--fresh', 'on a platform of its own, also when one runs')
    .option('--junit <file>', 'write JUnit XML, a test case a cell')
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

/** Before anything is begun: a command that was built anew is started anew. */
async function buildForOwnPlatform(
  options: CommonOptions & { readonly fresh?: boolean; readonly dryRun?: boolean },
  { env, output, projectFrom }: Parameters<Register>[1],
): Promise<void> {
  if (!options.fresh || options.dryRun) return;
  const { continueAsBuilt } = await import('../../platform/continue-as-built.ts');
  await continueAsBuilt(projectFrom(options), { env, say: (line) => output.note(line) });
}

/** Experiments as files: nothing of them is run. */
function addCatalogue(chaos: Command, deps: Parameters<Register>[1]): void {
  const collect = (value: string, earlier: readonly string[] = []) => [...earlier, value];

  withCommonOptions(chaos.command('list'))
    .description('experiments of the catalog')
    .option('-t, --tag <tag>', 'only those with this tag; may be repeated', collect)
    .addHelpText('after', effects('none, reads only', '0, 2'))
    .action(async (options: ChaosListOptions) => {
      const { runChaosList } = await import('./run-catalog.ts');
      await runChaosList(options, deps);
    });

  withCommonOptions(chaos.command('show'))
    .description('one experiment: why, steps, bounds as numbers, what must and must not happen')
    .argument('<experiment>', 'an id of "shopctl chaos list", or the path of a file')
    .option('--set <name=value>', 'another value for its configuration; may be repeated', collect)
    .addHelpText('after', effects('none, reads only', '0, 2'))
    .action(async (name: string, options: ChaosShowOptions) => {
      const { runChaosShow } = await import('./run-catalog.ts');
      await runChaosShow(name, options, deps);
    });

  withCommonOptions(chaos.command('validate'))
    .description('whether experiments are valid, with every problem and where it stands')
    .argument('[experiment...]', 'ids and paths of files (default: the whole catalog)')
    .addHelpText('after', effects('none, reads only', '0, 2 (with every problem)'))
    .action(async (names: readonly string[], options: CommonOptions) => {
      const { runChaosValidate } = await import('./run-catalog.ts');
      await runChaosValidate(names, options, deps);
    });
}
