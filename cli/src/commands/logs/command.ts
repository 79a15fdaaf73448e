import { Option } from 'commander';
import { effects, type Register, withCommonOptions } from '../../command-context.ts';
import { parseCount, parseSince } from '../option-values.ts';
import type { LogsOptions } from './run-logs.ts';

export const register: Register = (program, deps) => {
  withCommonOptions(program.command('logs'))
    .description('print what services and components logged, in order of time')
    .argument('[service...]', 'all when none is named')
    .option('-f, --follow', 'go on with new lines until Ctrl-C')
    .option('-n, --tail <lines>', 'only the last lines (default: 100; all with --since or --trace)', parseCount)
    .option('--since <when>', 'an age (90s, 10m, 2h) or an ISO time', (text: string) => parseSince(text))
    .option('--trace <id>', 'only lines of this trace; the beginning of its id is enough')
    .addOption(new Option('--pretty', 'lines for people (default on a terminal)').conflicts('json'))
    .option('--no-pretty', 'one JSON document a line (default elsewhere), same as --json')
    .addHelpText('after', effects('none, reads only; works on a stopped platform too', '0, 2, 130 (ended a --follow)'))
    .action(async (services: string[], options: LogsOptions) => {
      const { runLogs } = await import('./run-logs.ts');
      await runLogs(services, options, deps);
    });
};
