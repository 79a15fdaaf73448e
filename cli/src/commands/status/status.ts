import { type CommonOptions, type Register, withCommonOptions } from '../../command-context.ts';

/** Reads only. Exit codes 0, 4 (not running). */
export const register: Register = (program, deps) => {
  withCommonOptions(program.command('status').alias('ps'))
    .description('services and components: state, process, port, restarts, CPU, memory')
    .action(async (options: CommonOptions) => {
      const { runStatus } = await import('./run-status.ts');
      await runStatus(options, deps);
    });
};
