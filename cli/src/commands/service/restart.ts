import { effects, type Register, withCommonOptions } from '../../command-context.ts';
import { withReason } from '../reason.ts';
import type { StartOptions } from './run-service-action.ts';

export const register: Register = (program, deps) => {
  withReason(withCommonOptions(program.command('restart')))
    .description(
      'rebuild a service if its sources changed, restart its replicas one after the other (or one, or a component), and wait until it is ready',
    )
    .argument('<service>', 'orders, orders-2, rabbitmq, ...')
    .option('--no-build', 'do not rebuild the service although its sources changed')
    .addHelpText(
      'after',
      effects(
        'builds the stale bundle or image of the service; starts processes of the running platform, and ends the old ones once those are ready',
        '0, 1, 2, 3, 4',
      ),
    )
    .action(async (service: string, options: StartOptions) => {
      const { runServiceAction } = await import('./run-service-action.ts');
      await runServiceAction('restart', service, options, deps);
    });
};
