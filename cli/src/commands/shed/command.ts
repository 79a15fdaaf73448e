import { InvalidArgumentError } from 'commander';
import { effects, type Register, withCommonOptions } from '../../command-context.ts';
import { withReason } from '../reason.ts';
import type { ShedOptions } from './run-shed.ts';

export const register: Register = (program, deps) => {
  withReason(withCommonOptions(program.command('shed')))
    .description(
      'have the gateway refuse a share of the new orders (503), until another share is set; 0 takes all again. Without a share: print it',
    )
    .argument('[percent]', '0 to 100', parsePercent)
    .option('--dry-run', 'say what would be done and change nothing')
    .addHelpText(
      'after',
      effects(
        'writes .shop/<project>/admission/admission.json, which running gateways read again, and .shop/<project>/changes.jsonl',
        '0, 1 (the file cannot be read), 2',
      ),
    )
    .action(async (percent: number | undefined, options: ShedOptions) => {
      const { runShed } = await import('./run-shed.ts');
      await runShed(percent, options, deps);
    });
};

/** `30`, `30%`, `0.5`. */
function parsePercent(text: string): number {
  const percent = /^\d+(\.\d+)?%?$/.test(text) ? Number.parseFloat(text) : Number.NaN;
  if (!(percent <= 100)) throw new InvalidArgumentError('expected a share from 0 to 100');
  return percent;
}
