import { effects, type Register, withCommonOptions } from '../../command-context.ts';
import { withReason } from '../reason.ts';
import type { DrainOptions } from './run-drain.ts';

export const register: Register = (program, deps) => {
  withReason(withCommonOptions(program.command('drain')))
    .description('send a replica no new calls or messages, while it runs on and the others of its service serve')
    .argument('<instance>', 'orders-2, stock-1, ...')
    .option('--undo', 'send it calls or messages again')
    .option('--dry-run', 'only say what would be done, step by step')
    .addHelpText(
      'after',
      effects(
        'announces to running services where to call, writes .shop/<project>/overrides.json: the next "up" keeps it, until "drain --undo"',
        '0, 1, 2, 4',
      ),
    )
    .action(async (instance: string, options: DrainOptions) => {
      const { runDrain } = await import('./run-drain.ts');
      await runDrain(instance, options, deps);
    });
};
