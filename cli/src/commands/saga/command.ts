import { Option } from 'commander';
import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';
import { sagaStates } from '../../shop/orders-table.ts';
import { parseCount } from '../option-values.ts';
import type { SagaListOptions } from './run-saga.ts';

export const register: Register = (program, deps) => {
  const saga = program.command('saga').description('inspect the sagas of orders');

  withCommonOptions(saga.command('ls').alias('list'))
    .description('list open sagas, the oldest first, then the ones that ended last')
    .option('--stuck', 'only those open for more than 30 s, without an owner, or with more than 3 failed rounds')
    .addOption(new Option('--state <state>', 'only those in this state').choices(sagaStates))
    .option('-n, --limit <count>', 'how many', parseCount, 20)
    .addHelpText('after', effects('none, reads only', '0, 2, 4, 5 (a database did not respond)'))
    .action(async (options: SagaListOptions) => {
      const { runSagaList } = await import('./run-saga.ts');
      await runSagaList(options, deps);
    });

  withCommonOptions(saga.command('show'))
    .description('show each step of a saga with its rows in the databases')
    .argument('<order>', 'id, or its first 6 characters or more')
    .addHelpText('after', effects('none, reads only', '0, 1 (unknown order), 2, 4, 5 (a database did not respond)'))
    .action(async (id: string, options: CommonOptions) => {
      const { runSagaShow } = await import('./run-saga.ts');
      await runSagaShow(id, options, deps);
    });
};
