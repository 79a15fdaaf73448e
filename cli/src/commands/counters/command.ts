import { effects, type Register, withCommonOptions } from '../../command-context.ts';
import { parseSeconds } from '../option-values.ts';
import type { CountersOptions } from './run-counters.ts';

export const register: Register = (program, deps) => {
  withCommonOptions(program.command('counters'))
    .description('print live metrics: the orders meter, and rate, errors and duration per service')
    .option('--interval <seconds>', 'time between reports', parseSeconds, 1)
    .option('--once', 'one report, with totals since the services started')
    .addHelpText('after', effects('none, reads only; with --json prints one line for each report', '0, 2, 4, 130, 143'))
    .action(async (options: CountersOptions) => {
      const { runCounters } = await import('./run-counters.ts');
      await runCounters(options, deps);
    });
};
