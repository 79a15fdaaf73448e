import { type CommonOptions, type Register, withCommonOptions } from '../../command-context.ts';

/** Side effects: ends or starts processes of the running platform. Exit codes 0, 2, 4. */
export const register: Register = (program, deps) => {
  withCommonOptions(program.command('start'))
    .description('start what was stopped, and wait until it is ready')
    .argument('<service>', 'orders, orders-2, rabbitmq, ...')
    .action(async (service: string, options: CommonOptions) => {
      const { runServiceAction } = await import('./run-service-action.ts');
      await runServiceAction('start', service, options, deps);
    });
};
