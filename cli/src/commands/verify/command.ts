import { effects, type Register, withAnnotations, withCommonOptions } from '../../command-context.ts';
import { parseSeconds } from '../option-values.ts';
import type { VerifyCommandOptions } from './run-verify.ts';

export const register: Register = (program, deps) => {
  withAnnotations(withCommonOptions(program.command('verify')))
    .description('check that the platform does what it must: orders, traces, metrics, outbox, ledger, logs, privacy')
    .option('--junit <file>', 'also write the results as a JUnit report')
    .option('--timeout <seconds>', 'limit of the whole run', parseSeconds, 60)
    .addHelpText(
      'after',
      effects(
        'places two orders (one is confirmed and takes one unit of product 1), writes the JUnit file, and a bundle under .shop/<project>/bundles/ when a check did not hold',
        '0, 1 (a check failed), 2, 4, 5 (evidence is missing)',
      ),
    )
    .action(async (options: VerifyCommandOptions) => {
      const { runVerify } = await import('./run-verify.ts');
      await runVerify(options, deps);
    });
};
