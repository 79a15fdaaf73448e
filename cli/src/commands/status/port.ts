import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';

export const register: Register = (program, deps) => {
  withCommonOptions(program.command('port'))
    .description('print the port of a service, a replica or a component')
    .argument('<service>', 'gateway, stock-1, postgres, ...')
    .addHelpText('after', effects('none, reads only', '0, 2, 4'))
    .action(async (service: string, options: CommonOptions) => {
      const { runPort } = await import('./run-status.ts');
      await runPort(service, options, deps);
    });
};
