import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';
import { type ReasonOptions, withReason } from '../reason.ts';

export const register: Register = (program, deps) => {
  const flags = program.command('flags').description('manage feature flags');

  withCommonOptions(flags.command('ls').alias('list'))
    .description('list every flag, and whether it is on')
    .addHelpText('after', effects('none, reads only', '0, 1 (the file cannot be read), 2'))
    .action(async (options: CommonOptions) => {
      const { runFlagsList } = await import('./run-flags.ts');
      await runFlagsList(options, deps);
    });

  for (const word of ['on', 'off'] as const) {
    withReason(withCommonOptions(flags.command(word)))
      .description(`switch a flag ${word}; running services follow without a restart`)
      .argument('<flag>', 'its name, as "flags ls" shows it')
      .addHelpText(
        'after',
        effects(
          'writes .shop/<project>/flags/flags.json, which running services read again, and .shop/<project>/changes.jsonl',
          '0, 1 (the file cannot be read), 2',
        ),
      )
      .action(async (name: string, options: CommonOptions & ReasonOptions) => {
        const { runFlagsSet } = await import('./run-flags.ts');
        await runFlagsSet(name, word === 'on', options, deps);
      });
  }
};
