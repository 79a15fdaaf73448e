import { effects, type Register, withCommonOptions } from '../../command-context.ts';
import { parseSeconds } from '../option-values.ts';
import type { WaitOptions } from './run-wait.ts';

export const register: Register = (program, deps) => {
  withCommonOptions(program.command('wait'))
    .description('wait until services are ready')
    .argument('[service...]', 'all when none is named')
    .option('--timeout <seconds>', 'give up after this long', parseSeconds, 120)
    .addHelpText('after', effects('none, reads only', '0, 2, 4, 124 (names what is not ready)'))
    .action(async (services: string[], options: WaitOptions) => {
      const { runWait } = await import('./run-wait.ts');
      await runWait(services, options, deps);
    });
};
