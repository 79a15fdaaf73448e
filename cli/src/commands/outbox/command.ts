import { effects, type Register, withCommonOptions } from '../../command-context.ts';
import { parseCount, parseSince } from '../option-values.ts';
import { withReason } from '../reason.ts';
import type { OutboxListOptions } from './run-outbox-list.ts';
import type { OutboxRedriveOptions } from './run-outbox-redrive.ts';

export const register: Register = (program, deps) => {
  const outbox = program.command('outbox').description('list and republish events of orders for shipping');

  withCommonOptions(outbox.command('ls').alias('list'))
    .description('list events that wait, the oldest first, then the ones published last')
    .option('--pending', 'only those not published yet')
    .option('-n, --limit <count>', 'how many', parseCount, 20)
    .addHelpText('after', effects('none, reads only', '0, 2, 4'))
    .action(async (options: OutboxListOptions) => {
      const { runOutboxList } = await import('./run-outbox-list.ts');
      await runOutboxList(options, deps);
    });

  withReason(withCommonOptions(outbox.command('redrive')))
    .description('publish events again')
    .argument('[id...]', 'outbox rows: id, or its first 6 characters or more')
    .option('--order <order>', "all of an order's events")
    .option(
      '--unshipped <time>',
      'events of all orders without a shipment, written since: an age (10m) or an ISO time',
      (text) => parseSince(text),
    )
    .option('--dry-run', 'say what would be done and change nothing')
    .addHelpText('after', effects('marks rows of the outbox as unpublished', '0, 1 (unknown row), 2, 4'))
    .action(async (ids: string[], options: OutboxRedriveOptions) => {
      const { runOutboxRedrive } = await import('./run-outbox-redrive.ts');
      await runOutboxRedrive(ids, options, deps);
    });
};
