import { type Command, Option } from 'commander';
import { type CommandDeps, effects, withCommonOptions } from '../../command-context.ts';
import { parseCount, parsePlatforms, parsePositive } from '../option-values.ts';
import { parseLine } from '../reason.ts';
import { limitOption, withRoundOptions } from './round-commands.ts';
import type { DrillBenchOptions } from './run-drill-bench.ts';
import type { DrillPlayOptions } from './run-drill-play.ts';

const BASELINES = ['noop', 'restart-everything', 'random-blame', 'reference'] as const;

/** The commands by which programs play. */
export function registerPlayCommands(drill: Command, deps: CommandDeps): void {
  withRoundOptions(withCommonOptions(drill.command('play')))
    .description('run a round with a program: a script, a command, or JSON lines on the standard streams')
    .argument('[pack]', 'a round that was sealed with "shopctl drill seal"')
    .option('--script <file>', 'lines like "wait page", "wait 10s" and commands without "shopctl"')
    .option('--agent <command>', 'of the shell; it speaks JSON lines, and has SHOPCTL_PROJECT')
    .option('--pass <points>', 'exit with 1 below this many points', parseCount)
    .addHelpText(
      'after',
      effects(
        'as "shopctl drill start"; runs the command. A program that ends before the round has given up',
        '0, 1 (--pass: fewer points; a drill, a run or a fault is on), 2, 3, 4, 5 (the round is void), 130, 143 (interrupted; the round is aborted)',
      ),
    )
    .action(async (pack: string | undefined, options: DrillPlayOptions) => {
      const { runDrillPlay } = await import('./run-drill-play.ts');
      await runDrillPlay(pack, options, deps);
    });

  withCommonOptions(drill.command('bench'))
    .description('run rounds with an agent and with baselines, on ephemeral platforms')
    .argument('[scenario...]', 'ids (default: those of --set)')
    .addOption(new Option('--set <set>', 'the small set, or all scenarios').choices(['lite', 'all']).default('lite'))
    .option('--agent <command>', 'as of "shopctl drill play"')
    .addOption(
      new Option('--baseline <name...>', 'these baselines (default: all without an agent, none with one)').choices(
        BASELINES,
      ),
    )
    .option('--rounds <count>', 'of each player and scenario', parsePositive, 1)
    .option('--seed <seed>', 'the same seed is the same rounds', parseLine, '1')
    .addOption(limitOption('of each round; solutions get 8m at least', 240_000))
    .option('--pass <points>', 'exit with 1 where the agent has fewer points in the mean', parseCount)
    .option('--platforms <count>', 'work on N platforms concurrently (default: by memory and cores)', parsePlatforms)
    .option('--resume <run>', 'go on with a run: rounds without points are played')
    .option('--junit <file>', 'also write a JUnit report: a suite for each player')
    .option('--dry-run', 'list the rounds')
    .addHelpText(
      'after',
      effects(
        'starts and ends ephemeral platforms; runs the agent; writes .shop/<project>/drill-bench/<run>/',
        '0, 1 (a baseline is outside of its bound; --pass), 2, 3, 5 (a round has no points), 130, 143 (interrupted; --resume goes on)',
      ),
    )
    .action(async (ids: readonly string[], options: DrillBenchOptions) => {
      const { runDrillBench } = await import('./run-drill-bench.ts');
      await runDrillBench(ids, options, deps);
    });
}
