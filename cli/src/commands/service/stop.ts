import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';
import { type ReasonOptions, withReason } from '../reason.ts';

export const register: Register = (program, deps) => {
  withReason(withCommonOptions(program.command('stop')))
    .description('stop a service (all its replicas), one replica, or a component')
    .argument('<service>', 'orders, orders-2, rabbitmq, ...')
    .addHelpText('after', effects('ends processes of the running platform', '0, 2, 4'))
    .action(async (service: string, options: CommonOptions & ReasonOptions) => {
      const { runServiceAction } = await import('./run-service-action.ts');
      await runServiceAction('stop', service, options, deps);
    });
};
