import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';
import { parseCount, parseSeconds } from '../option-values.ts';
import type { OrderPlaceOptions, ProductChoice } from './run-order-place.ts';
import type { OrderGetOptions, OrderListOptions } from './run-order-read.ts';

/** `5`, or `5:2` for two units; several times. The shop itself says which products and quantities it takes. */
function parseProduct(text: string, earlier: readonly ProductChoice[] = []): ProductChoice[] {
  const match = /^(\d{1,10})(?::(-?\d{1,10}))?$/.exec(text);
  if (match === null) throw new InvalidArgumentError('expected a product id, or id:quantity, like 5:2');
  return [...earlier, { productId: Number(match[1]), quantity: match[2] === undefined ? undefined : Number(match[2]) }];
}

export const register: Register = (program, deps) => {
  const order = program.command('order').description('place orders and look at them (place is the default)');
  addPlace(order, deps);

  withCommonOptions(order.command('get'))
    .description('show one order as recorded')
    .argument('<order>', 'id, or its first 6 characters or more')
    .option('--show-customer', "also the customer's name, which is personal data")
    .addHelpText('after', effects('none, reads only', '0, 1 (unknown order), 2, 4, 5 (a database did not respond)'))
    .action(async (id: string, options: OrderGetOptions) => {
      const { runOrderGet } = await import('./run-order-read.ts');
      await runOrderGet(id, options, deps);
    });

  withCommonOptions(order.command('list').alias('ls'))
    .description('list the newest orders')
    .option('-n, --limit <count>', 'how many', parseCount, 20)
    .addOption(new Option('--status <status>', 'only these').choices(['Confirmed', 'Cancelled', 'open']))
    .addHelpText('after', effects('none, reads only', '0, 2, 4, 5 (a database did not respond)'))
    .action(async (options: OrderListOptions) => {
      const { runOrderList } = await import('./run-order-read.ts');
      await runOrderList(options, deps);
    });

  withCommonOptions(order.command('timeline'))
    .description('show what happened to an order: databases and trace on one time axis')
    .argument('<order>', 'id, or its first 6 characters or more')
    .addHelpText('after', effects('none, reads only', '0, 1 (unknown order), 2, 4, 5 (a database did not respond)'))
    .action(async (id: string, options: CommonOptions) => {
      const { runOrderTimeline } = await import('./run-order-timeline.ts');
      await runOrderTimeline(id, options, deps);
    });
};

function addPlace(order: Command, deps: Parameters<Register>[1]): void {
  withCommonOptions(order.command('place', { isDefault: true }))
    .description('place an order through the gateway and show its trace')
    .option('--product <id[:quantity]>', 'what to order, several times (default: product 1)', parseProduct, [])
    .option('-q, --quantity <count>', 'units of each product that names none', parseCount, 1)
    .option('--customer <name>', 'who orders; it is personal data: shown and logged nowhere', 'Demo customer')
    .option('--idempotency-key <key>', 'repeating the command with the same key places no second order')
    .option('--no-trace', 'do not wait for the trace')
    .option('--timeout <seconds>', 'longest wait for the response, and again for the trace', parseSeconds, 15)
    .addHelpText(
      'after',
      effects('places one order through the gateway', '0 (also for a cancelled order), 1 (a problem), 2, 4, 124'),
    )
    .action(async (options: OrderPlaceOptions) => {
      const { runOrderPlace } = await import('./run-order-place.ts');
      await runOrderPlace(options, deps);
    });
}
