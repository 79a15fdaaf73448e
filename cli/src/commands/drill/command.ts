import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';
import { parseCount } from '../option-values.ts';
import { registerRoundCommands } from './round-commands.ts';
import type { DrillScoreOptions } from './run-drill-score.ts';

export const register: Register = (program, deps) => {
  const drill = program
    .command('drill')
    .description('run failure drills: start rounds, solve them, and see what they were; check scenarios');

  registerRoundCommands(drill, deps);

  withCommonOptions(drill.command('levels'))
    .description('list levels: what each trains, and how many scenarios it has')
    .addHelpText('after', effects('none, reads files', '0, 2'))
    .action(async (options: CommonOptions) => {
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
    .description('check the files of scenarios: everything that is wrong, with line and column')
    .argument('[scenario...]', 'ids (default: all)')
    .addHelpText('after', effects('none, reads files', '0, 2'))
    .action(async (ids: readonly string[], options: CommonOptions) => {
      const { runDrillValidate } = await import('./run-drill-catalog.ts');
      await runDrillValidate(ids, options, deps);
    });
};
