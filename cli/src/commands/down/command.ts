import { effects, type Register, withCommonOptions } from '../../command-context.ts';
import { parseSeconds } from '../option-values.ts';
import { withReason } from '../reason.ts';
import type { DownOptions } from './run-down.ts';

export const register: Register = (program, deps) => {
  withReason(withCommonOptions(program.command('down')))
    .description('stop everything; data is kept')
    .option('-v, --volumes', 'remove the data, secrets and logs too')
    .option('--purge', 'same as --volumes')
    .option('-y, --yes', 'do not ask (down never asks; accepted for scripts)')
    .option('-t, --timeout <seconds>', 'how long each process may take to end before it is killed', parseSeconds)
    .addHelpText(
      'after',
      effects('ends every process of the project; with -v removes its data, secrets and logs', '0, 6'),
    )
    .action(async (options: DownOptions) => {
      const { runDown } = await import('./run-down.ts');
      await runDown(options, deps);
    });
};
