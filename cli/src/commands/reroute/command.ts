import { Option } from 'commander';
import { effects, type Register, withCommonOptions } from '../../command-context.ts';
import { withReason } from '../reason.ts';
import type { RerouteOptions } from './run-reroute.ts';

export const register: Register = (program, deps) => {
  withReason(withCommonOptions(program.command('reroute')))
    .description('point the caller of an edge at the target past its proxy (standby), or at the proxy again (primary)')
    .argument('<edge>', 'orders-payments, gateway-orders, orders-db, shipping-broker, ...')
    .addOption(
      new Option('--via <way>', 'which way calls take').choices(['primary', 'standby']).makeOptionMandatory(true),
    )
    .option('--dry-run', 'only say what would be done, step by step')
    .addHelpText(
      'after',
      effects(
        'announces to running services where to call, writes .shop/<project>/overrides.json: the next "up" keeps it, until "reroute --via primary"',
        '0, 1, 2, 4',
      ),
    )
    .action(async (edge: string, options: RerouteOptions) => {
      const { runReroute } = await import('./run-reroute.ts');
      await runReroute(edge, options, deps);
    });
};
