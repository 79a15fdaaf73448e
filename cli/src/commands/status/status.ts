import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';

export const register: Register = (program, deps) => {
  withCommonOptions(program.command('status').alias('ps'))
    .description('list services and components: state, process, port, restarts, CPU, memory')
    .addHelpText('after', effects('none, reads only', '0, 4 (not running)'))
    .action(async (options: CommonOptions) => {
      const { runStatus } = await import('./run-status.ts');
      await runStatus(options, deps);
    });
};
