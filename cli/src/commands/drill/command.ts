import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';
import { parseCount } from '../option-values.ts';
import { parseLine } from '../reason.ts';
import { registerPlayCommands } from './play-commands.ts';
import { registerRoundCommands } from './round-commands.ts';
import type { DrillLevelsOptions } from './run-drill-catalog.ts';
import type { DrillScoreOptions } from './run-drill-score.ts';
import type { DrillValidateOptions } from './run-drill-validate.ts';

export const register: Register = (program, deps) => {
  const drill = program
    .command('drill')
    .description('run failure drills: start rounds, solve them, and see what they were; check scenarios');

  registerRoundCommands(drill, deps);
  registerPlayCommands(drill, deps);

  withCommonOptions(drill.command('levels'))
    .description('list levels: what each trains, how many scenarios it has, whether it is unlocked, how it went')
    .option('--as <name>', 'of this trainee (default: the user)', parseLine)
    .addHelpText('after', effects('none, reads files', '0, 2'))
    .action(async (options: DrillLevelsOptions) => {
      const { runDrillLevels } = await import('./run-drill-catalog.ts');
      await runDrillLevels(options, deps);
    });

  withCommonOptions(drill.command('score'))
    .description('print the score of a round, computed again from its journal')
    .argument('[round]', 'id of a round, or the path of its journal (default: the last round)')
    .option('--pass <points>', 'exit with 1 below this many points', parseCount)
    .addHelpText(
      'after',
      effects('none, reads files', '0, 1 (--pass: fewer points), 2, 5 (the round is void, aborted or has no end)'),
    )
    .action(async (round: string | undefined, options: DrillScoreOptions) => {
      const { runDrillScore } = await import('./run-drill-score.ts');
      await runDrillScore(round, options, deps);
    });

  withCommonOptions(drill.command('verify'))
    .description('check the journal of a round: its chain, its commitment, and that its seed draws it')
    .argument('[round]', 'id of a round, or the path of its journal (default: the last round)')
    .addHelpText(
      'after',
      effects(
        'none, reads files',
        '0, 1 (something was changed), 2, 5 (the clone has other scenarios than the round had)',
      ),
    )
    .action(async (round: string | undefined, options: CommonOptions) => {
      const { runDrillVerify } = await import('./run-drill-score.ts');
      await runDrillVerify(round, options, deps);
    });

  withCommonOptions(drill.command('validate'))
    .description(
      'check the files of scenarios; with --reference play their solutions, and check that each is what its file says',
    )
    .argument('[scenario...]', 'ids (default: all)')
    .option('--all', 'all scenarios')
    .option(
      '--reference',
      'play a round of each with its solution: witness, symptom, pages, points, leaks, what is left',
    )
    .option(
      '--platforms <count>',
      'play on N ephemeral platforms concurrently (default: on the running one)',
      parseCount,
    )
    .option('--seed <seed>', 'of each round (default: another one for each)', parseLine)
    .option('--resume <run>', 'go on with a run: scenarios without evidence are played')
    .option('--junit <file>', 'also write a JUnit report: a suite for each scenario')
    .addHelpText(
      'after',
      effects(
        'none, reads files; with --reference rounds as of "shopctl drill start" on the running platform, or on ephemeral ones; writes .shop/<project>/drill-trials/<run>/journal.jsonl',
        '0, 1 (a scenario is not what its file says), 2, 3 (a platform did not start, or has no alerts), 4, 5 (unknown: a round was void), 6 (a round could not revert what it did), 130, 143 (interrupted; --resume goes on)',
      ),
    )
    .action(async (ids: readonly string[], options: DrillValidateOptions) => {
      const { runDrillValidate } = await import('./run-drill-validate.ts');
      await runDrillValidate(ids, options, deps);
    });
};
