import { effects, type Register, withCommonOptions } from '../../command-context.ts';
import { parseScale } from '../option-values.ts';
import { withReason } from '../reason.ts';
import type { OperationCommandOptions } from '../run-operation.ts';

export const register: Register = (program, deps) => {
  withReason(withCommonOptions(program.command('scale')))
    .description('change the number of replicas of services while they serve; no caller is restarted')
    .argument('<service=count...>', 'orders=3, payments=2, ...', parseScale)
    .option('--dry-run', 'only say what would be done, step by step')
    .addHelpText(
      'after',
      effects(
        'starts and ends processes of the running platform, writes .shop/<project>/overrides.json: the next "up" keeps the number, until "scale" says another',
        '0, 1, 2, 4',
      ),
    )
    .action(async (replicas: Readonly<Record<string, number>>, options: OperationCommandOptions) => {
      const { runScale } = await import('./run-scale.ts');
      await runScale(replicas, options, deps);
    });
};
