import { type CommonOptions, type Register, withCommonOptions } from '../../command-context.ts';

/** Reads only. Exit codes 0, 2, 4. */
export const register: Register = (program, deps) => {
  withCommonOptions(program.command('port'))
    .description('print the port of a service, a replica or a component')
    .argument('<service>', 'gateway, stock-1, postgres, ...')
    .action(async (service: string, options: CommonOptions) => {
      const { runPort } = await import('./run-status.ts');
      await runPort(service, options, deps);
    });
};
