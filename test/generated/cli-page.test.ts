import type { Argument, Command, Option } from 'commander';
import { describe, expect, it } from 'vitest';
import type { CommandDeps } from '../../cli/src/command-context.ts';
import { addFaultOptions } from '../../cli/src/commands/chaos/fault-options.ts';
import { exitCodes } from '../../cli/src/exit-codes.ts';
import { createProgram, registersFor } from '../../cli/src/main.ts';
import { expectGenerated } from './expect-generated.ts';

/** No action is called: definitions read nothing of these. */
const program = createProgram({} as CommandDeps, await registersFor([]));
addFaultOptions(program);

/** What commands do, in the imperative, as their help begins. */
const VERBS =
  'acknowledge,ask,build,change,check,compare,declare,deploy,end,have,inject,inspect,install,list,manage,move,operate,place,point,print,publish,rebuild,reconcile,remove,requeue,reset,restart,resume,revert,roll,run,send,show,silence,start,stop,switch,validate,wait,write'.split(
    ',',
  );

const COMMON = new Set(['-p, --project <name>', '--json', '--format <format>']);

const intro = `# Command line

Every command with its arguments, options, side effects and exit codes, as \`shopctl COMMAND --help\` prints them.
\`npm run generate\` writes this page from the definitions in \`cli/src/commands/\`.

Results are on standard output, progress and errors on standard error. Times are written with their unit (\`200ms\`, \`3s\`,
\`1m\`) unless an option asks for seconds. Ctrl-C once ends a command in order, twice immediately. Variables and the
configuration file: [configuration](configuration.md).

## Options of every command

| option | meaning |
| --- | --- |
`;

const exitCodePage = `## Exit codes

| exit code | meaning |
| --- | --- |
| 0 | everything held |
| 1 | a check failed |
| 2 | wrong usage; nothing was changed |
| 3 | something is missing on this machine; the message says how to get it |
| 4 | the platform is not running, or not ready |
| 5 | unknown: evidence is missing |
| 6 | dirty: something could not be undone |
| 124 | a wait timed out |
| 130, 143 | interrupted (Ctrl-C, SIGTERM), and clean |
`;

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
const commandsBelow = (command: Command): readonly Command[] =>
  command.commands.flatMap((one) => [one, ...commandsBelow(one)]);
const acting = commandsBelow(program).filter(
  // A group that takes an argument acts, too.
  ({ commands, registeredArguments }) => commands.length === 0 || registeredArguments.length > 0,
);

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

function defaultOf({ defaultValue, defaultValueDescription }: Option | Argument): string {
  if (defaultValueDescription !== undefined) return ` (default: ${defaultValueDescription})`;
  const isNone = defaultValue === undefined || typeof defaultValue === 'boolean' || Array.isArray(defaultValue);
  return isNone ? '' : ` (default: ${defaultValue})`;
}

function row(term: string, one: Option | Argument): string {
  const choices = one.argChoices === undefined ? '' : `: ${one.argChoices.map((choice) => `\`${choice}\``).join(', ')}`;
  return `| \`${term.replaceAll('|', '\\|')}\` | ${cell(one.description)}${choices}${cell(defaultOf(one))} |`;
}

/** What help prints behind the options: explanations, examples, side effects and exit codes. */
function notesOf(command: Command): string {
  const printed: string[] = [];
  const { writeOut } = command.configureOutput();
  command.configureOutput({ writeOut: (text) => void printed.push(text) }).outputHelp();
  command.configureOutput({ writeOut: writeOut as (text: string) => void });
  return printed.join('').slice(command.helpInformation().length).trim();
}

function commandPage(command: Command, depth: number): string {
  const hasCommon = [...COMMON].every((flags) => command.options.some((option) => option.flags === flags));
  const options = command.options.filter(({ flags }) => !hasCommon || !COMMON.has(flags));
  const rows = [
    ...command.registeredArguments.map((argument) => row(command.createHelp().argumentTerm(argument), argument)),
    ...options.map((option) => row(option.flags, option)),
  ];
  const notes = notesOf(command);
  const aliases = command.aliases().map((alias) => `\`${alias}\``);
  return [
    `${'#'.repeat(depth)} ${nameOf(command)}`,
    sentence(command.description()) + (aliases.length === 0 ? '' : ` Alias: ${aliases.join(', ')}.`),
    ...(command.commands.length === 0 ? [`\`\`\`text\n${command.createHelp().commandUsage(command)}\n\`\`\``] : []),
    ...(command.commands.length === 0 && !hasCommon
      ? ['Of the options of every command it has only those below.']
      : []),
    ...(rows.length === 0 ? [] : [['| argument, option | meaning |', '| --- | --- |', ...rows].join('\n')]),
    ...(notes === '' ? [] : [`\`\`\`text\n${notes}\n\`\`\``]),
    ...command.commands.map((one) => commandPage(one, depth + 1)),
  ].join('\n\n');
}

describe('the command line', () => {
  it.each(acting.map((command) => [nameOf(command), command] as const))('%s says its side effects', (_, command) => {
    expect(notesOf(command)).toMatch(/^Side effects: .+\.$/ms);
    expect(notesOf(command)).toMatch(/^Exit codes: .+\.$/ms);
  });

  it.each(commandsBelow(program).map((command) => [nameOf(command), command] as const))(
    '%s is described in the imperative',
    (_, command) => expect(VERBS).toContain(/^[a-z]+/.exec(command.description())?.[0]),
  );

  it('docs/cli.md explains every exit code', () => {
    const explained = [...exitCodePage.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, codes = '']) => codes.split(', '));
    expect(explained.map(Number).toSorted()).toEqual(Object.values(exitCodes).toSorted());
  });

  it('docs/cli.md lists every command, argument and option', async () => {
    const common = acting[0]?.options.filter(({ flags }) => COMMON.has(flags)) ?? [];
    const commands = program.commands.map((command) => commandPage(command, 2));
    const page = [
      intro + common.map((option) => row(option.flags, option)).join('\n'),
      exitCodePage.trim(),
      ...commands,
    ];
    await expectGenerated('docs/cli.md', `${page.join('\n\n')}\n`);
  });
});
