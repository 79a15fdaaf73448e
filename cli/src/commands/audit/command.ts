import { effects, type Register, withAnnotations, withCommonOptions } from '../../command-context.ts';
import { parseCount, parseSince } from '../option-values.ts';
import type { AuditCommandOptions } from './run-audit.ts';

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
    .addHelpText(
      'after',
      effects('none, reads databases, queues and metrics', '0, 1 (does not balance), 2, 4, 5 (evidence is missing)'),
    )
    .action(async (options: AuditCommandOptions) => {
      const { runAudit } = await import('./run-audit.ts');
      await runAudit(options, deps);
    });
};
