import { type CommonOptions, type Register, withCommonOptions } from '../../command-context.ts';
import { parseSeconds } from '../option-values.ts';

export interface WaitOptions extends CommonOptions {
  /** Seconds. */
  readonly timeout: number;
}

/** Reads only. Exit codes 0, 2, 4, 124 (the culprit is named). */
export const register: Register = (program, deps) => {
  withCommonOptions(program.command('wait'))
    .description('wait until services are ready')
    .argument('[service...]', 'all when none is named')
    .option('--timeout <seconds>', 'give up after this long', parseSeconds, 120)
    .action(async (services: string[], options: WaitOptions) => {
      const { runWait } = await import('./run-wait.ts');
      await runWait(services, options, deps);
    });
};
