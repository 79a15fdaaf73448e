import type { Command } from 'commander';
import type { CommandDeps } from '../../cli/src/command-context.ts';
import { addFaultOptions } from '../../cli/src/commands/chaos/fault-options.ts';
import { createProgram, registersFor } from '../../cli/src/main.ts';
import { componentNames } from '../../cli/src/topology/components.ts';
import { databaseNames } from '../../cli/src/topology/databases.ts';
import { edges, serviceNames } from '../../cli/src/topology/services.ts';

/** What stands for a value in a page, with an example of it. */
const placeholders: Readonly<Record<string, string>> = {
  APPLICATION: 'psql',
  COMMAND: 'status',
  DATABASE: 'orders',
  EDGE: 'orders-payments',
  FLAG: 'publish-order-confirmed-v2',
  ID: '7c9e6679',
  INSTANCE: 'orders-1',
  N: '2',
  NAME: 'orders',
  ORDER: '7c9e6679',
  PERCENT: '20',
  PID: '6092',
  SERVICE: 'orders',
  TRACE: '7c9e6679',
};

/** The commands of a page's blocks of shell: there to be run. */
export function shellCommandsOf(markdown: string): readonly string[] {
  const blocks = [...markdown.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  return blocks.flatMap((block) => block.split('\n')).flatMap(commandsIn);
}

/** The commands between backticks in its text; some only name one. */
export function inlineCommandsOf(markdown: string): readonly string[] {
  const text = markdown.replaceAll(/^```[\s\S]*?^```$/gm, '');
  return [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, code = '']) => commandsIn(code));
}

/** Without `shopctl`, and without comment, redirection and what is piped. */
function commandsIn(code: string): readonly string[] {
  return code
    .replace(/\s#\s.*$/, '')
    .split(/ \| | && /)
    .map((part) => /(?:^|\s)shopctl (.*)$/.exec(part.replace(/ [<>] \S+\s*$/, ''))?.[1]?.trim() ?? '')
    .filter((line) => line !== '');
}

/** The words of a command line, with an example for each placeholder outside of quotation marks. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain = '']) =>
      double ?? single ?? plain.replaceAll(/\b[A-Z]+\b/g, (word) => placeholders[word] ?? word),
  );
}

const instances = serviceNames.map((name) => `${name}-\\d`);
const databases = databaseNames.flatMap((name) => [name, `${name}-db`]);

/** What a command checks only when it runs, by the name of its argument. */
const namesOf: Readonly<Record<string, RegExp>> = {
  service: new RegExp(`^(?:${[...serviceNames, ...componentNames, ...instances].join('|')})$`),
  'service=count': new RegExp(`^(?:${serviceNames.join('|')})$`),
  instance: new RegExp(`^(?:${instances.join('|')})$`),
  edge: new RegExp(`^(?:${edges.map(({ name }) => name).join('|')})$`),
  database: new RegExp(`^(?:${databases.join('|')})$`),
};

/** The real command line, whose commands do nothing. */
export interface CommandLine {
  /** The command that a line runs: `ops db sessions`. Throws where the line is wrong, or names something unknown. */
  parse(line: string): string;
  /** Whether a line is the name of a command or a group of them, and nothing else. */
  isName(line: string): boolean;
  /** All commands, as `parse` names them. */
  readonly commands: ReadonlyMap<string, Command>;
}

const registers = await registersFor([]);

export function readCommandLine(): CommandLine {
  const program = createProgram({} as CommandDeps, registers);
  addFaultOptions(program);
  const commands = new Map(leavesOf(program, []));
  let parsed: string | undefined;
  for (const [name, command] of commands) {
    command.configureOutput({ writeOut: () => undefined, writeErr: () => undefined }).action(() => {
      requireKnownNames(command);
      parsed = name;
    });
  }
  return {
    commands,
    isName(line) {
      const name = wordsOf(line.replace(/ ?--help$/, '')).join(' ');
      return [...commands.keys()].some((one) => `${one} `.startsWith(`${name} `.trimStart()));
    },
    parse(line) {
      parsed = undefined;
      program.parse([...wordsOf(line)], { from: 'user' });
      if (parsed === undefined) throw new Error(`there is no command ${line}`);
      return parsed;
    },
  };
}

function leavesOf(command: Command, path: readonly string[]): readonly (readonly [string, Command])[] {
  const below = command.commands.flatMap((one) => leavesOf(one, [...path, one.name()]));
  // A group that takes an argument runs, too: `deploy orders`, `deploy status`.
  const runs = below.length === 0 || command.registeredArguments.length > 0;
  return runs ? [[path.join(' '), command], ...below] : below;
}

function requireKnownNames(command: Command): void {
  for (const [index, argument] of command.registeredArguments.entries()) {
    const value: unknown = command.processedArgs[index];
    const known = namesOf[argument.name()];
    if (known === undefined || value === undefined) continue;
    for (const one of typeof value === 'string' ? [value] : keysOf(value))
      if (!known.test(one)) throw new Error(`there is no ${argument.name()} ${one}`);
  }
}

/** Of a list its items, of a record its keys. */
function keysOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : Object.keys(value as object);
}
