import { Option } from 'commander';
import { effects, type Register, withCommonOptions } from '../../command-context.ts';
import { changeKinds } from '../../platform/change-log.ts';
import { parseCount, parseSince } from '../option-values.ts';
import type { ChangesOptions } from './run-changes.ts';

export const register: Register = (program, deps) => {
  withCommonOptions(program.command('changes'))
    .description('list what operators changed: who, when, from what to what; faults are not changes')
    .option('--since <when>', 'an age (90s, 10m, 2h) or an ISO time', (text: string) => parseSince(text))
    .addOption(new Option('--kind <kind...>', 'only these kinds').choices(changeKinds))
    .option('-n, --tail <count>', 'only the newest (default: 50; all with --since)', parseCount)
    .option('-f, --follow', 'go on with new ones until Ctrl-C; with --json one JSON document a line')
    .addHelpText(
      'after',
      effects(
        'none, reads only; works on a stopped platform too',
        '0, 1 (the file cannot be read), 2, 130 (ended a --follow)',
      ),
    )
    .action(async (options: ChangesOptions) => {
      const { runChanges } = await import('./run-changes.ts');
      await runChanges(options, deps);
    });
};
