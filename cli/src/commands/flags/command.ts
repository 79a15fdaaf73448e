import { isDate } from '@shop/kit/calendar-date.ts';
import { InvalidArgumentError } from 'commander';
import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';
import { parseLine, type ReasonOptions, withReason, withRequiredReason } from '../reason.ts';
import type { FlagSetOptions } from './run-flags.ts';
import type { RolloutOptions } from './run-rollout.ts';

const actingEffects = (exitCodes: string) =>
  effects(
    'writes .shop/<project>/flags/flags.json, which running services read again, and .shop/<project>/changes.jsonl',
    exitCodes,
  );

export const register: Register = (program, deps) => {
  const flags = program.command('flags').description('manage feature flags');

  withCommonOptions(flags.command('ls').alias('list'))
    .description('list every flag: for which orders it is on, its owner and its expiry; warn of those that expired')
    .addHelpText('after', effects('none, reads only', '0, 1 (the file cannot be read), 2'))
    .action(async (options: CommonOptions) => {
      const { runFlagsList } = await import('./run-flags.ts');
      await runFlagsList(options, deps);
    });

  for (const word of ['on', 'off'] as const) {
    withReason(withCommonOptions(flags.command(word)))
      .description(`switch a flag ${word} for all orders; running services follow without a restart`)
      .argument('<flag>', 'its name, as "flags ls" shows it')
      .addHelpText('after', actingEffects('0, 1 (the file cannot be read, or has rules written by hand), 2'))
      .action(async (name: string, options: CommonOptions & ReasonOptions) => {
        const { runFlagsSwitch } = await import('./run-flags.ts');
        await runFlagsSwitch(name, word === 'on', options, deps);
      });
  }

  withReason(withCommonOptions(flags.command('set')))
    .description('switch a flag on for a share of the orders, or set its owner and expiry')
    .argument('<flag>', 'its name, as "flags ls" shows it')
    .option('--percent <share>', 'on for this share of the orders, 0 to 100 in steps of 0.001', parsePercent)
    .option('--owner <name>', 'who decides about the flag', parseLine)
    .option('--expires <date>', 'the last day on which the flag is to exist, YYYY-MM-DD', parseDate)
    .addHelpText('after', actingEffects('0, 1 (the file cannot be read, or has rules written by hand), 2'))
    .action(async (name: string, options: FlagSetOptions) => {
      const { runFlagsSet } = await import('./run-flags.ts');
      await runFlagsSet(name, options, deps);
    });

  withReason(withCommonOptions(flags.command('rollout')))
    .description('roll a flag out step by step, evaluated as a canary is: then it is on for all orders, or as it was')
    .argument('<flag>', 'its name, as "flags ls" shows it')
    .requiredOption('--plan <file>', 'a plan of a canary of the service that evaluates the flag')
    .option('--during-chaos', 'although a fault is active')
    .option('--force', 'although the orders are too few for the plan at the present rate')
    .addHelpText(
      'after',
      effects(
        'writes .shop/<project>/{flag-rollouts.jsonl,flags/flags.json,changes.jsonl}',
        '0 (on for all orders), 1 (as it was, by what was observed; or as another command has it), 2, 4, 5 (as it was, as evidence was missing), 6 (a fault is active), 130 (interrupted, and as it was)',
      ),
    )
    .action(async (name: string, options: RolloutOptions) => {
      const { runFlagsRollout } = await import('./run-rollout.ts');
      await runFlagsRollout(name, options, deps);
    });

  withCommonOptions(flags.command('rollouts'))
    .description('list rollouts of flags and how they ended')
    .addHelpText('after', effects('none, reads only', '0, 4'))
    .action(async (options: CommonOptions) => {
      const { runFlagsRollouts } = await import('./run-rollout.ts');
      await runFlagsRollouts(options, deps);
    });

  withRequiredReason(withCommonOptions(flags.command('kill')))
    .description(
      'switch a flag off whatever its rules say, until "on", "off" or "set --percent"; the rules stay in the file',
    )
    .argument('<flag>', 'its name, as "flags ls" shows it')
    .addHelpText('after', actingEffects('0, 1 (the file cannot be read), 2'))
    .action(async (name: string, options: CommonOptions & ReasonOptions) => {
      const { runFlagsKill } = await import('./run-flags.ts');
      await runFlagsKill(name, options, deps);
    });
};

/** `5`, `5%`, `0.125`. */
function parsePercent(text: string): number {
  const percent = /^\d+(\.\d{1,3})?%?$/.test(text) ? Number.parseFloat(text) : Number.NaN;
  if (!(percent <= 100)) throw new InvalidArgumentError('expected a share from 0 to 100 in steps of 0.001');
  return percent;
}

function parseDate(text: string): string {
  if (!isDate(text)) throw new InvalidArgumentError('expected a date, YYYY-MM-DD');
  return text;
}
