import type { Command } from 'commander';
import {
  type CommandDeps,
  type CommonOptions,
  effects,
  type Register,
  withCommonOptions,
} from '../../command-context.ts';
import { databaseNames } from '../../topology/databases.ts';
import { parsePositive } from '../option-values.ts';
import { withReason } from '../reason.ts';
import type { ChangingOptions } from './changing.ts';
import type { SessionsOptions, TerminateOptions } from './run-ops-db.ts';

const DATABASES = `${databaseNames.join(', ')}; also as orders-db`;
const DRY_RUN = ['--dry-run', 'say what would be done and change nothing'] as const;

export const register: Register = (program, deps) => {
  const ops = program.command('ops').description('operate databases, broker and clocks while they run');

  const db = ops
    .command('db')
    .description('inspect sessions of the databases, and end what keeps these from being used');
  withCommonOptions(db.command('sessions'))
    .description('list sessions: their transaction, the locks they hold, and which session they wait for')
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
    .action(async (database: string, options: ChangingOptions) => {
      const { runWritable } = await import('./run-ops-db.ts');
      await runWritable(database, options, deps);
    });

  withReason(withCommonOptions(db.command('free')))
    .description('move what a database stores on a full disk into the data directory')
    .argument('<database>', DATABASES)
    .option(...DRY_RUN)
    .addHelpText(
      'after',
      effects(
        'moves tables and indexes out of full tablespaces; they are locked meanwhile',
        '0, 1 (the data directory is full as well), 2, 3 (PostgreSQL in a container, or managed externally), 4',
      ),
    )
    .action(async (database: string, options: ChangingOptions) => {
      const { runFree } = await import('./run-ops-db.ts');
      await runFree(database, options, deps);
    });

  registerBroker(ops, deps);
  registerClock(ops, deps);
};

function registerBroker(ops: Command, deps: CommandDeps): void {
  const broker = ops.command('broker').description('inspect and repair resource alarms and bindings of the broker');
  withCommonOptions(broker.command('alarms'))
    .description('list resource alarms, their limits, and the connections that they block')
    .addHelpText('after', effects('none, reads only', '0, 2, 3 (managed externally), 4'))
    .action(async (options: CommonOptions) => {
      const { runAlarms } = await import('./run-ops-broker.ts');
      await runAlarms(options, deps);
    });

  withReason(withCommonOptions(broker.command('free')))
    .description('end resource alarms whose limit was changed while the broker runs')
    .option(...DRY_RUN)
    .addHelpText(
      'after',
      effects(
        "sets the broker's limits of disk and memory to those of its configuration, while an alarm is on",
        '0, 1 (an alarm is still on: disk or memory is short), 2, 3, 4',
      ),
    )
    .action(async (options: ChangingOptions) => {
      const { runBrokerFree } = await import('./run-ops-broker.ts');
      await runBrokerFree(options, deps);
    });

  withCommonOptions(broker.command('bindings'))
    .description('list bindings, beside those that orders and shipping declare')
    .addHelpText('after', effects('none, reads only', '0, 2, 3 (managed externally), 4'))
    .action(async (options: CommonOptions) => {
      const { runBindings } = await import('./run-ops-broker.ts');
      await runBindings(options, deps);
    });

  withReason(withCommonOptions(broker.command('bind')))
    .description('declare again what is missing of exchanges, queues and bindings')
    .option(...DRY_RUN)
    .addHelpText('after', effects('declares exchanges, queues and bindings of the shop', '0, 1, 2, 3, 4'))
    .action(async (options: ChangingOptions) => {
      const { runBind } = await import('./run-ops-broker.ts');
      await runBind(options, deps);
    });
}

function registerClock(ops: Command, deps: CommandDeps): void {
  const clock = ops.command('clock').description("compare wall clocks of services with the supervisor's");
  withCommonOptions(clock.command('ls').alias('list'))
    .description('list how far the clock of each instance is off')
    .argument('[service]', 'a service or one of its instances (default: all)')
    .addHelpText('after', effects('none, reads only', '0, 2, 4'))
    .action(async (service: string | undefined, options: CommonOptions) => {
      const { runClocks } = await import('./run-ops-clock.ts');
      await runClocks(service, options, deps);
    });

  withReason(withCommonOptions(clock.command('sync')))
    .description("restart instances whose clock is wrong, one after the other, with this machine's clock")
    .argument('[service]', 'a service or one of its instances (default: all)')
    .option(...DRY_RUN)
    .addHelpText(
      'after',
      effects('restarts instances, with the clock of this machine', '0, 1 (a clock is still wrong), 2, 4'),
    )
    .action(async (service: string | undefined, options: ChangingOptions) => {
      const { runClockSync } = await import('./run-ops-clock.ts');
      await runClockSync(service, options, deps);
    });
}
