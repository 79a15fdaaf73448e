import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';
import { parsePositive } from '../option-values.ts';
import { withReason } from '../reason.ts';
import type { DlqListOptions, DlqOptions } from './run-dlq.ts';

const LOOK = 'none that lasts: each letter is taken from the queue and put back';

export const register: Register = (program, deps) => {
  const dlq = program
    .command('dlq')
    .description('list, requeue and discard dead letters: what shipping refused for good');

  withCommonOptions(dlq.command('ls').alias('list'))
    .description('list dead letters: since when, why, and of which order')
    .option('-n, --limit <count>', 'how many', parsePositive, 50)
    .addHelpText('after', effects(LOOK, '0, 1 (the broker refused), 2, 4'))
    .action(async (options: DlqListOptions) => {
      const { runDlqList } = await import('./run-dlq.ts');
      await runDlqList(options, deps);
    });

  withCommonOptions(dlq.command('show'))
    .description('show a dead letter: its headers, why shipping cannot read it, its fields of an order event')
    .argument('<id>', 'its id, or the first 6 characters or more')
    .addHelpText('after', effects(LOOK, '0, 1 (unknown or ambiguous id, or the broker refused), 2, 4'))
    .action(async (id: string, options: CommonOptions) => {
      const { runDlqShow } = await import('./run-dlq.ts');
      await runDlqShow(id, options, deps);
    });

  withReason(withCommonOptions(dlq.command('retry')))
    .description('requeue dead letters; one that fails again is dead-lettered again')
    .argument('[id]', 'its id, or the first 6 characters or more')
    .option('--all', 'all that are there now')
    .option('--dry-run', 'say what would be done and change nothing')
    .addHelpText(
      'after',
      effects(
        'moves messages from the dead-letter queue, confirmed by the broker; appends to .shop/<project>/changes.jsonl',
        '0, 1 (unknown or ambiguous id, or the broker refused), 2, 4',
      ),
    )
    .action(async (id: string | undefined, options: DlqOptions) => {
      const { runDlqChange } = await import('./run-dlq.ts');
      await runDlqChange('retry', id, options, deps);
    });

  withReason(withCommonOptions(dlq.command('discard')))
    .description('remove dead letters for good; the change log keeps their ids and orders')
    .argument('[id]', 'its id, or the first 6 characters or more')
    .option('--all', 'all that are there now')
    .option('-y, --yes', 'do not ask before all are discarded')
    .option('--dry-run', 'say what would be done and change nothing')
    .addHelpText(
      'after',
      effects(
        'removes messages from the dead-letter queue; appends to .shop/<project>/changes.jsonl',
        '0, 1 (unknown or ambiguous id, or the broker refused), 2, 3 (the change log cannot be written), 4',
      ),
    )
    .action(async (id: string | undefined, options: DlqOptions) => {
      const { runDlqChange } = await import('./run-dlq.ts');
      await runDlqChange('discard', id, options, deps);
    });
};
