import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';

export const register: Register = (program, deps) => {
  withCommonOptions(program.command('restart'))
    .description('stop and start a service (all its replicas), one replica, or a component, and wait until it is ready')
    .argument('<service>', 'orders, orders-2, rabbitmq, ...')
    .addHelpText('after', effects('ends and starts processes of the running platform', '0, 2, 4'))
    .action(async (service: string, options: CommonOptions) => {
      const { runServiceAction } = await import('./run-service-action.ts');
      await runServiceAction('restart', service, options, deps);
    });
};
