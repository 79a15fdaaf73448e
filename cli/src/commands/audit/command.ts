import type { Command } from 'commander';
import { effects, type Register, withAnnotations, withCommonOptions } from '../../command-context.ts';
import { parseCount, parseDuration, parseSince } from '../option-values.ts';
import type { AuditCommandOptions } from './run-audit.ts';

/** Options that a watch does not have. */
const AUDIT_ONLY = ['order', 'since', 'settle', 'history', 'deadLetters', 'annotations'];

export const register: Register = (program, deps) => {
  withAnnotations(withCommonOptions(program.command('audit')))
    .description('reconcile the five databases, queues and metrics; prints one line per invariant')
    .option('--order <id>', 'only this order (its id, or the beginning of it)')
    .option(
      '--since <time>',
      'only orders placed since, an age (10m) or an ISO time; exit code 5 when there are none',
      (text) => parseSince(text),
    )
    .option('--settle <seconds>', 'time limit for in-flight work to end first', parseCount, 10)
    .option(
      '--history <file>',
      'the responses of clients, NDJSON {orderId, status, reason, time, key}: checks I2 and I3',
    )
    .option('--dead-letters <count>', 'poison messages that were injected on purpose', parseCount, 0)
    .option(
      '--watch',
      'stay, and print each new violation (I4, I5, I7, I8, I15) of orders older than 30 s; Ctrl-C ends it',
    )
    .option('--every <duration>', 'with --watch: time between two looks (default: 10s)', parseDuration)
    .option('--for <duration>', 'with --watch: end after this time', parseDuration)
    .addHelpText(
      'after',
      effects(
        'none, reads databases, queues and metrics',
        '0, 1 (does not balance), 2, 4, 5 (evidence is missing), with --watch also 130',
      ),
    )
    .action(async (options: AuditCommandOptions, command: Command) => {
      if (options.watch || options.every !== undefined || options.for !== undefined) {
        const { runAuditWatch } = await import('./run-audit-watch.ts');
        const others = AUDIT_ONLY.filter((name) => command.getOptionValueSource(name) === 'cli');
        return runAuditWatch(options, others, deps);
      }
      const { runAudit } = await import('./run-audit.ts');
      await runAudit(options, deps);
    });
};
