import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CommandDeps, type CommonOptions, effects, withCommonOptions } from '../../command-context.ts';
import { mechanisms, plainComponents, scopes } from '../../drills/format/vocabulary.ts';
import { writeDuration } from '../../shared/duration.ts';
import { parseDuration } from '../option-values.ts';
import { parseLine } from '../reason.ts';
import type { ActOptions, BlameOptions, HintOptions } from './run-drill-act.ts';
import type { DrillDebriefOptions } from './run-drill-debrief.ts';
import type { DrillSealOptions } from './run-drill-seal.ts';
import type { DrillStartOptions } from './run-drill-start.ts';

const HIGHEST_LEVEL = 5;
const HELP_WIDTH = 100;
const ACTING = '0, 1 (no drill is on), 2, 4';

const journaled = (exitCodes = ACTING) => effects('writes the journal of the round', exitCodes);

/** The commands of a round that is on. */
export function registerRoundCommands(drill: Command, deps: CommandDeps): void {
  withRoundOptions(withCommonOptions(drill.command('start')))
    .description('start a round: something may go wrong from now on, or nothing. Prints its commitment')
    .argument('[pack]', 'a round that was sealed with "shopctl drill seal"')
    .addHelpText(
      'after',
      effects(
        'places orders, may disturb the platform, and reverts everything at the end; writes .shop/<project>/drills/',
        '0, 1 (a drill, a run or a fault is on), 2 (also: the level is locked), 3 (the platform runs without alerts), 4, 5 (a sealed round is of another build)',
      ),
    )
    .action(async (pack: string | undefined, options: DrillStartOptions) => {
      const { runDrillStart } = await import('./run-drill-start.ts');
      await runDrillStart(pack, options, deps);
    });

  withCommonOptions(drill.command('seal'))
    .description(
      'write a sealed round for another person: a file that its passphrase opens at "shopctl drill start FILE"',
    )
    .requiredOption('--out <file>', 'where the sealed round is written; must not exist')
    .option('--level <level>', 'what it trains; see "shopctl drill levels"', parseLevel, 1)
    .option('--seed <seed>', 'the same seed is the same round (default: another one each time)', parseLine)
    .option('--scenario <id>', 'this scenario alone')
    .option('--passphrase-file <file>', 'its first line is the passphrase (default: it is asked for)')
    .addHelpText('after', effects('writes FILE; prints what the round is, for facilitators only', '0, 2'))
    .action(async (options: DrillSealOptions) => {
      const { runDrillSeal } = await import('./run-drill-seal.ts');
      await runDrillSeal(options, deps);
    });

  withCommonOptions(drill.command('status'))
    .description('show the round: its time, its state, what was used. Never what is wrong, or whether')
    .addHelpText('after', effects('none, reads only', ACTING))
    .action(async (options: CommonOptions) => {
      const { runDrillStatus } = await import('./run-drill-act.ts');
      await runDrillStatus(options, deps);
    });

  withCommonOptions(drill.command('page'))
    .description('show the pager: pages and tickets that fire, with state, age and runbook')
    .addHelpText('after', effects('none, reads only', '0, 2, 4'))
    .action(async (options: CommonOptions) => {
      const { runDrillPage } = await import('./run-drill-page.ts');
      await runDrillPage(options, deps);
    });

  withCommonOptions(drill.command('ack'))
    .description('acknowledge the pages that wait, or one by its name')
    .argument('[page]', 'name of an alert')
    .addHelpText('after', effects('as "shopctl alerts ack"', '0, 1 (no page waits), 2, 4'))
    .action(async (page: string | undefined, options: CommonOptions) => {
      const { runDrillAck } = await import('./run-drill-page.ts');
      await runDrillAck(page, options, deps);
    });

  const texts = {
    declare: 'declare an incident, where nothing has paged yet',
    note: 'write into the timeline',
    update: 'write a status update for stakeholders',
  } as const;
  for (const [kind, description] of Object.entries(texts) as [keyof typeof texts, string][]) {
    withName(withCommonOptions(drill.command(kind)))
      .description(description)
      .argument('<text>', 'one line', parseLine)
      .addHelpText('after', journaled())
      .action(async (text: string, options: ActOptions) => {
        const { runDrillText } = await import('./run-drill-act.ts');
        await runDrillText(kind, text, options, deps);
      });
  }

  withName(withCommonOptions(drill.command('blame')))
    .description(
      'declare the cause, three times at most. A word that does not exist, and evidence that is not there, cost nothing',
    )
    .requiredOption('--component <component>', 'a service, replica:NAME, database:NAME, network:EDGE; docs/drills.md')
    .requiredOption('--mechanism <mechanism>', 'stopped, frozen, slow, unreachable, ...; docs/drills.md')
    .requiredOption('--scope <scope>', 'all-orders, some-orders, one-replica, shipments-only, cancellations-only, none')
    .option('--evidence <reference...>', 'trace:ID, log:INSTANCE, log:SERVICE, alert:NAME, order:ID or change:ID')
    .addHelpText('after', journaled('0, 1 (no drill is on), 2 (an unknown word or evidence, no try left), 4'))
    .addHelpText('after', vocabulary)
    .action(async (options: BlameOptions) => {
      const { runDrillBlame } = await import('./run-drill-act.ts');
      await runDrillBlame(options, deps);
    });

  withCommonOptions(drill.command('hint'))
    .description('show the next hint, after a question that says what it costs')
    .option('-y, --yes', 'without the question')
    .addHelpText('after', journaled('0, 1 (no drill is on), 2 (not confirmed, or no hint is left), 4'))
    .action(async (options: HintOptions) => {
      const { runDrillHint } = await import('./run-drill-act.ts');
      await runDrillHint(options, deps);
    });

  withName(withCommonOptions(drill.command('fixed')))
    .description('end the round, where customers are served for a minute from now on')
    .addHelpText('after', journaled())
    .action(async (options: ActOptions) => {
      const { runDrillFixed } = await import('./run-drill-act.ts');
      await runDrillFixed(options, deps);
    });

  withName(withCommonOptions(drill.command('all-clear')))
    .description('end the round: nothing is wrong')
    .addHelpText('after', ending())
    .action(async (options: ActOptions) => {
      const { runDrillAllClear } = await import('./run-drill-act.ts');
      await runDrillAllClear(options, deps);
    });

  const ends = {
    'give-up': ['gave-up', 'end the round unsolved'],
    abort: ['aborted', 'end the round; it has no score'],
  } as const;
  for (const [command, [why, description]] of Object.entries(ends)) {
    withName(withCommonOptions(drill.command(command)))
      .description(`${description}. Everything is reverted`)
      .addHelpText('after', ending())
      .action(async (options: ActOptions) => {
        const { runDrillEnd } = await import('./run-drill-act.ts');
        await runDrillEnd(why, options, deps);
      });
  }

  withCommonOptions(drill.command('debrief'))
    .description(
      'show a round that is over: its score, what it was, where that could be seen, the timeline, a solution',
    )
    .argument('[round]', 'id of a round, or the path of its journal (default: the last round)')
    .option('--html <file>', 'as one page: everything on one time axis, the traces of two orders, the proof')
    .addHelpText('after', effects('reads files; writes FILE', '0, 2, 5 (the round has no score)'))
    .action(async (round: string | undefined, options: DrillDebriefOptions) => {
      const { runDrillDebrief } = await import('./run-drill-debrief.ts');
      await runDrillDebrief(round, options, deps);
    });

  withCommonOptions(drill.command('history'))
    .description(
      'list the rounds of the project with their points and times after the symptom, and progress by component and family',
    )
    .addHelpText('after', effects('none, reads files', '0, 2'))
    .action(async (options: CommonOptions) => {
      const { runDrillHistory } = await import('./run-drill-debrief.ts');
      await runDrillHistory(options, deps);
    });
}

/** Every word that a diagnosis can have. */
function vocabulary({ command }: { readonly command: Command }): string {
  const lists = { Components: [...plainComponents, 'replica:orders-1'], Mechanisms: mechanisms, Scopes: scopes };
  const lines = Object.entries(lists).map(([name, words]) => `${name}: ${words.join(', ')}.`);
  return `\n${lines.map((line) => command.createHelp().boxWrap(line, HELP_WIDTH)).join('\n')}`;
}

/** What a round is to be. */
export function withRoundOptions(command: Command): Command {
  return command
    .option('--level <level>', 'what it trains; see "shopctl drill levels"', parseLevel, 1)
    .addOption(limitOption('the round ends after this time', 900_000))
    .option('--no-hints', 'without hints')
    .option('--as <name>', 'who is on call (default: the user)', parseLine)
    .option('--seed <seed>', 'the same seed is the same round; it does not count then', parseLine)
    .option('--scenario <id>', 'this scenario alone, for its authors; it does not count then')
    .option('--weak', 'prefer families of mechanisms in which the last five rounds went worst')
    .option('--exam', 'without hints; a look at what keeps the failure makes the round void')
    .option('--passphrase-file <file>', 'of a sealed round (default: it is asked for)');
}

function withName(command: Command): Command {
  return command.option('--as <name>', 'who does it (default: the user)', parseLine);
}

function ending() {
  return effects('reverts what was injected and what operators changed; closes the journal', ACTING);
}

function parseLevel(text: string): number {
  const level = Number(text);
  if (!Number.isInteger(level) || level < 1 || level > HIGHEST_LEVEL)
    throw new InvalidArgumentError(`expected a level from 1 to ${HIGHEST_LEVEL}`);
  return level;
}

const [SHORTEST_MS, LONGEST_MS] = [120_000, 3_600_000];

/** `--limit`, ms; two minutes to one hour. */
export function limitOption(description: string, defaultMs: number): Option {
  return new Option('--limit <duration>', description)
    .argParser(parseLimit)
    .default(defaultMs, writeDuration(defaultMs));
}

function parseLimit(text: string): number {
  const ms = parseDuration(text);
  if (ms < SHORTEST_MS || ms > LONGEST_MS) throw new InvalidArgumentError('expected 2m to 1h');
  return ms;
}
