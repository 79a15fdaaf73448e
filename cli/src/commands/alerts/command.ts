import { Option } from 'commander';
import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';
import { parseCount, parseDuration, parseFactor, parseSince } from '../option-values.ts';
import { parseLine } from '../reason.ts';
import type { AckOptions } from './run-ack.ts';
import type { HistoryOptions } from './run-history.ts';
import type { ListOptions } from './run-ls.ts';
import type { MatrixOptions } from './run-matrix.ts';
import type { SilenceOptions, UnsilenceOptions } from './run-silence.ts';
import type { SilentOptions } from './run-silent.ts';

const HOUR_MS = 3_600_000;

export const register: Register = (program, deps) => {
  const alerts = program
    .command('alerts')
    .description('manage alerts: what fires, who has acknowledged it, what is silenced');

  withCommonOptions(alerts.command('ls').alias('list'))
    .description('list the alerts that fire, pages first; state, age and acknowledgement')
    .addOption(new Option('--severity <severity...>', 'only these').choices(['page', 'ticket', 'cause', 'none']))
    .option('-f, --follow', 'go on with what happens until Ctrl-C; pages ring. With --json one JSON document a line')
    .option('--notify', 'with --follow: a notice on the desktop for each page (notify-send, osascript)')
    .addHelpText(
      'after',
      effects('none, reads only', '0, 2, 3 (the platform runs without alerts), 4, 130 (ended a --follow)'),
    )
    .action(async (options: ListOptions) => {
      const { runList } = await import('./run-ls.ts');
      await runList(options, deps);
    });

  withCommonOptions(alerts.command('show'))
    .description('show an alert: its rule, what fires, silences, history, and the first look of its runbook')
    .argument('<name>', 'name of an alert: OutboxStalled')
    .addHelpText(
      'after',
      effects('none, reads only; works on a stopped platform too', '0, 1 (a file cannot be read), 2'),
    )
    .action(async (name: string, options: CommonOptions) => {
      const { runShow } = await import('./run-show.ts');
      await runShow(name, options, deps);
    });

  withCommonOptions(alerts.command('history'))
    .description('list what happened to alerts: fired, notified, escalated, acknowledged, silenced, resolved')
    .argument('[name]', 'only this alert')
    .option('--since <when>', 'an age (90s, 10m, 2h) or an ISO time', (text: string) => parseSince(text))
    .option('-n, --tail <count>', 'only the newest (default: 50; all with --since)', parseCount)
    .addHelpText(
      'after',
      effects('none, reads only; works on a stopped platform too', '0, 1 (the file cannot be read), 2'),
    )
    .action(async (name: string | undefined, options: HistoryOptions) => {
      const { runHistory } = await import('./run-history.ts');
      await runHistory(name, options, deps);
    });

  withCommonOptions(alerts.command('ack').alias('acknowledge'))
    .description('acknowledge the alerts that fire under a name: you look at them, and they are not escalated')
    .argument('[name]', 'name of an alert, or the fingerprint of one')
    .option('--all', 'all pages that fire')
    .option('--note <text>', 'what you know or do', parseLine)
    .addHelpText(
      'after',
      effects(
        'appends to .shop/<project>/pager/history.jsonl and .shop/<project>/changes.jsonl; has the webhook acknowledge',
        '0 (also where they had been acknowledged), 1 (it does not fire), 2, 4',
      ),
    )
    .action(async (name: string | undefined, options: AckOptions) => {
      const { runAck } = await import('./run-ack.ts');
      await runAck(name, options, deps);
    });

  withCommonOptions(alerts.command('silence'))
    .description('silence an alert for some time: it is listed, and notifies no one')
    .argument('<name>', 'name of an alert')
    .argument('[matchers...]', 'only those with these labels: queue=shipping.order-confirmed, edge=~orders-.*')
    .option('--for <duration>', 'how long: 90s, 10m, 2h', parseDuration, HOUR_MS)
    .requiredOption('--reason <text>', 'why, for those who look for the alert', parseLine)
    .addHelpText(
      'after',
      effects(
        'appends to .shop/<project>/pager/history.jsonl and .shop/<project>/changes.jsonl',
        '0, 2 (also without a reason), 4',
      ),
    )
    .action(async (name: string, matchers: string[], options: SilenceOptions) => {
      const { runSilence } = await import('./run-silence.ts');
      await runSilence(name, matchers, options, deps);
    });

  withCommonOptions(alerts.command('unsilence'))
    .description('end silences before their time')
    .argument('<name>', 'name of an alert, or the id of a silence')
    .option('--reason <text>', 'why, as "shopctl changes" shows it', parseLine)
    .addHelpText(
      'after',
      effects(
        'appends to .shop/<project>/pager/history.jsonl and .shop/<project>/changes.jsonl',
        '0 (also where none is active), 2, 4',
      ),
    )
    .action(async (name: string, options: UnsilenceOptions) => {
      const { runUnsilence } = await import('./run-silence.ts');
      await runUnsilence(name, options, deps);
    });

  withCommonOptions(alerts.command('test'))
    .description('check the rules of dashboards/prometheus and run their tests with promtool; needs no platform')
    .addHelpText(
      'after',
      effects(
        'downloads, unpacks or builds promtool once, where it is not installed; runs it',
        '0, 1 (a rule or a test failed), 2, 3 (no promtool, and no way to get it)',
      ),
    )
    .action(async (options: CommonOptions) => {
      const { runTest } = await import('./run-test.ts');
      await runTest(options, deps);
    });

  withCommonOptions(alerts.command('matrix'))
    .description('inject every fault under load, and measure which alerts fire: recall, precision, seconds')
    .option('--faults <name...>', 'only these faults, also such that are left out otherwise')
    .option('--targets <name...>', 'only these targets')
    .option('--alerts <name...>', 'evaluate only these alerts')
    .option('--all', 'also faults that show little beyond others (docs/alerts.md has which, and why)')
    .option('--parallel <count>', 'platforms at a time (default: two for each core, 4 at most)', parseCount)
    .option('--seed <number>', 'of the orders (default: 1)', parseCount)
    .option(
      '--resume <run>',
      'go on with a run: pairs without evidence are measured; a complete one is evaluated again',
    )
    .option('--dry-run', 'list the pairs with their expectations')
    .option('--junit <file>', 'also write a JUnit report: a case for each pair')
    .option('--html <file>', 'also write one page for a browser')
    .addHelpText(
      'after',
      effects(
        'starts ephemeral platforms with Prometheus, places orders, injects and reverts faults; writes .shop/<project>/alerts/matrix/<run>/journal.jsonl',
        '0, 1 (a goal was missed), 2, 3 (a platform did not start), 5 (unknown), 6 (a fault is left), 130, 143 (interrupted; --resume goes on)',
      ),
    )
    .action(async (options: MatrixOptions) => {
      const { runMatrixCommand } = await import('./run-matrix.ts');
      await runMatrixCommand(options, deps);
    });

  withCommonOptions(alerts.command('silent'))
    .description('check that no page fires where nothing is wrong: steady load, spikes, restarts, a suspended machine')
    .option('--only <name...>', 'only these situations')
    .option('--scale <factor>', 'multiply durations: 0.1 takes a quarter of an hour instead of two hours', parseFactor)
    .option('--knee <rate>', 'orders a second up to which response times hold; adds a ramp to 0.8 of it', parseFactor)
    .option(
      '--parallel <count>',
      'platforms at a time, but for spike and ramp (default: two for each core, 4 at most)',
      parseCount,
    )
    .option('--seed <number>', 'of the orders (default: 1)', parseCount)
    .option('--resume <run>', 'go on with a run: situations without evidence are measured')
    .option('--dry-run', 'list the situations, how long they take, and which need the machine')
    .option('--junit <file>', 'also write a JUnit report: a case for each situation')
    .option('--html <file>', 'also write one page for a browser')
    .addHelpText(
      'after',
      effects(
        'starts an ephemeral platform with Prometheus for each situation, places orders, restarts services, stops and continues the processes of the platform; writes .shop/<project>/alerts/silent/<run>/journal.jsonl',
        '0, 1 (a page fired), 2, 3 (a platform did not start), 5 (unknown), 130, 143 (interrupted; --resume goes on)',
      ),
    )
    .action(async (options: SilentOptions) => {
      const { runSilentCommand } = await import('./run-silent.ts');
      await runSilentCommand(options, deps);
    });
};
