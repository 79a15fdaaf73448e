import { type CommonOptions, type Register, withCommonOptions } from '../../command-context.ts';

/**
 * `ls` reads; `on` and `off` write `.shop/<project>/flags/flags.json`, at which running services look. Exit codes 0, 1 (the file
 * cannot be read), 2.
 */
export const register: Register = (program, deps) => {
  const flags = program.command('flags').description('features that are in the code and can be switched on');

  withCommonOptions(flags.command('ls').alias('list'))
    .description('every flag, and whether it is on')
    .action(async (options: CommonOptions) => {
      const { runFlagsList } = await import('./run-flags.ts');
      await runFlagsList(options, deps);
    });

  for (const word of ['on', 'off'] as const) {
    withCommonOptions(flags.command(word))
      .description(`switch a flag ${word}; running services follow without a restart`)
      .argument('<flag>', 'its name, as "flags ls" shows it')
      .action(async (name: string, options: CommonOptions) => {
        const { runFlagsSet } = await import('./run-flags.ts');
        await runFlagsSet(name, word === 'on', options, deps);
      });
  }
};
