import { type CommonOptions, type Register, withCommonOptions } from '../../command-context.ts';
import { parseSeconds } from '../option-values.ts';

export interface CountersOptions extends CommonOptions {
  /** Seconds. */
  readonly interval: number;
  readonly once?: boolean;
}

/** Reads only. Runs until it is interrupted, or once. With --json one line per report. Exit codes 0, 2, 4, 130, 143. */
export const register: Register = (program, deps) => {
  withCommonOptions(program.command('counters'))
    .description('live metrics: the orders meter, and rate, errors and duration per service')
    .option('--interval <seconds>', 'time between reports', parseSeconds, 1)
    .option('--once', 'one report, with totals since the services started')
    .action(async (options: CountersOptions) => {
      const { runCounters } = await import('./run-counters.ts');
      await runCounters(options, deps);
    });
};
