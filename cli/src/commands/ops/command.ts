import { effects, type Register, withCommonOptions } from '../../command-context.ts';
import { databaseNames } from '../../topology/databases.ts';
import { parsePositive } from '../option-values.ts';
import { withReason } from '../reason.ts';
import type { SessionsOptions, TerminateOptions, WritableOptions } from './run-ops-db.ts';

const DATABASES = `${databaseNames.join(', ')}; also as orders-db`;
const DRY_RUN = ['--dry-run', 'say what would be done and change nothing'] as const;

export const register: Register = (program, deps) => {
  const ops = program.command('ops').description('what an operator does to databases and broker while they run');

  const db = ops.command('db').description('sessions of the databases, and what keeps them from being used');
  withCommonOptions(db.command('sessions'))
    .description('who is connected, in which transaction, holds which locks, and waits for whom')
    .argument('[database]', `whose sessions (default: all): ${DATABASES}`)
    .option('--all', 'idle sessions one by one, not counted')
    .addHelpText('after', effects('none, reads only', '0, 2, 3 (managed externally), 4'))
    .action(async (database: string | undefined, options: SessionsOptions) => {
      const { runSessions } = await import('./run-ops-db.ts');
      await runSessions(database, options, deps);
    });

  withReason(withCommonOptions(db.command('terminate')))
    .description('end sessions; their transactions are rolled back and their locks released')
    .argument('[pid...]', 'as "ops db sessions" shows them', (text: string, earlier: number[] = []) => [
      ...earlier,
      parsePositive(text),
    ])
    .option('--application <name>', 'all sessions of an application instead, as "ops db sessions" shows it')
    .option('--database <name>', `only sessions of this database: ${DATABASES}`)
    .option('--started <time>', 'refuse unless the session began then, as "ops db sessions --json" has it')
    .option(...DRY_RUN)
    .addHelpText(
      'after',
      effects('ends sessions in the server', '0, 1 (no such session, or it is another one now), 2, 3, 4'),
    )
    .action(async (pids: number[], options: TerminateOptions) => {
      const { runTerminate } = await import('./run-ops-db.ts');
      await runTerminate(pids, options, deps);
    });

  withReason(withCommonOptions(db.command('writable')))
    .description('reset what makes the transactions of a database read-only')
    .argument('<database>', DATABASES)
    .option(...DRY_RUN)
    .addHelpText(
      'after',
      effects(
        'resets default_transaction_read_only of roles in this database, and ends the sessions that began with it',
        '0, 1 (still read-only), 2, 3, 4',
      ),
    )
    .action(async (database: string, options: WritableOptions) => {
      const { runWritable } = await import('./run-ops-db.ts');
      await runWritable(database, options, deps);
    });
};
