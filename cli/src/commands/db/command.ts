import { Option } from 'commander';
import { effects, type Register, withCommonOptions } from '../../command-context.ts';
import { databaseNames } from '../../topology/databases.ts';
import type { DbOptions } from './run-db.ts';

export const register: Register = (program, deps) => {
  withCommonOptions(program.command('db'))
    .description('ask the database of a service: psql on a terminal, else statements of --command or standard input')
    .argument('<service>', `whose database: ${databaseNames.join(', ')}`)
    .addOption(new Option('--role <role>', 'who asks').choices(['read-only', 'service']).default('read-only'))
    .option('-c, --command <sql>', 'statements, run as one transaction')
    .addHelpText(
      'after',
      effects('none as read-only; as service, what the statements change', '0, 1 (a statement was rejected), 2, 4'),
    )
    .action(async (service: string, options: DbOptions) => {
      const { runDb } = await import('./run-db.ts');
      await runDb(service, options, deps);
    });
};
