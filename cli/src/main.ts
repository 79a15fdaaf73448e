import { Command, CommanderError, Option } from 'commander';
import type { CommandDeps, CommonOptions, Register } from './command-context.ts';
import { sourceOfCommand } from './drills/look-sources.ts';
import type { CliErrorCode } from './error-codes.ts';
import { CliError, toCliError } from './errors.ts';
import { type ExitCode, exitCodes } from './exit-codes.ts';
import { createInterruption } from './interruption.ts';
import { type ConfigurableOutput, createOutput } from './output/output.ts';
import { projectFrom } from './platform/project.ts';
import { VERSION } from './version.ts';

/** Every command, in the order of `--help`. Its module holds a light definition and imports its work when it runs. */
const commands: Readonly<Record<string, () => Promise<{ readonly register: Register }>>> = {
  up: () => import('./commands/up/command.ts'),
  down: () => import('./commands/down/command.ts'),
  status: () => import('./commands/status/status.ts'),
  restart: () => import('./commands/service/restart.ts'),
  stop: () => import('./commands/service/stop.ts'),
  start: () => import('./commands/service/start.ts'),
  scale: () => import('./commands/scale/command.ts'),
  drain: () => import('./commands/drain/command.ts'),
  reroute: () => import('./commands/reroute/command.ts'),
  deploy: () => import('./commands/deploy/command.ts'),
  wait: () => import('./commands/wait/command.ts'),
  logs: () => import('./commands/logs/command.ts'),
  changes: () => import('./commands/changes/command.ts'),
  port: () => import('./commands/status/port.ts'),
  products: () => import('./commands/products/command.ts'),
  order: () => import('./commands/order/command.ts'),
  saga: () => import('./commands/saga/command.ts'),
  outbox: () => import('./commands/outbox/command.ts'),
  dlq: () => import('./commands/dlq/command.ts'),
  explain: () => import('./commands/explain/command.ts'),
  db: () => import('./commands/db/command.ts'),
  trace: () => import('./commands/trace/command.ts'),
  watch: () => import('./commands/watch/command.ts'),
  counters: () => import('./commands/counters/command.ts'),
  verify: () => import('./commands/verify/command.ts'),
  audit: () => import('./commands/audit/command.ts'),
  alerts: () => import('./commands/alerts/command.ts'),
  slo: () => import('./commands/slo/command.ts'),
  ops: () => import('./commands/ops/command.ts'),
  chaos: () => import('./commands/chaos/command.ts'),
  drill: () => import('./commands/drill/command.ts'),
  load: () => import('./commands/load/command.ts'),
  build: () => import('./commands/build/command.ts'),
  flags: () => import('./commands/flags/command.ts'),
  shed: () => import('./commands/shed/command.ts'),
  compose: () => import('./commands/compose/command.ts'),
  setup: () => import('./commands/setup/command.ts'),
  doctor: () => import('./commands/doctor/command.ts'),
  version: () => import('./commands/version/command.ts'),
  completion: () => import('./commands/completion/command.ts'),
};

/**
 * Those that a command line needs: the one that it names, which saves the modules and definitions of all others. All of them where it
 * names none of these, for the help and for a suggestion; `completion` describes all.
 */
export function registersFor(args: readonly string[]): Promise<readonly Register[]> {
  const [first = '', second = '', third = ''] = args;
  const name = first === '-p' || first === '--project' ? third : first.startsWith('--project=') ? second : first;
  const named = name !== 'completion' && Object.hasOwn(commands, name) ? commands[name] : undefined;
  return load(named === undefined ? Object.values(commands) : [named]);
}

async function load(modules: readonly (() => Promise<{ readonly register: Register }>)[]): Promise<Register[]> {
  return (await Promise.all(modules.map((one) => one()))).map(({ register }) => register);
}

/** The command line as data, with the commands that these define and without the parameters of faults; see `addFaultOptions`. */
export function createProgram(deps: CommandDeps, registers: readonly Register[]): Command {
  const program = new Command('shopctl')
    .description('An order platform on your machine, with traces, load and chaos to test it by.')
    .version(VERSION, '-V, --version')
    .showSuggestionAfterError()
    // Every command has it; before the command it means the same.
    .addOption(new Option('-p, --project <name>').hideHelp())
    .enablePositionalOptions()
    .hook('preAction', (program, action) => {
      const { project } = program.opts();
      if (project !== undefined && action.opts().project === undefined) action.setOptionValue('project', project);
    })
    // What is wrong with a command line is reported like every other error: see `usageError`.
    .configureOutput({ outputError: () => undefined })
    // Those of the program alone: `deploy plan` takes none of the options of `deploy`.
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions: optionsOfProgram })
    .exitOverride();
  for (const register of registers) register(program, deps);
  return program;
}

function optionsOfProgram(command: Command): Option[] {
  if (command.parent === null) return [];
  let program = command;
  while (program.parent !== null) program = program.parent;
  return program.options.filter(({ hidden }) => !hidden);
}

/** A drill notes what its trainee looks at. */
async function reportToDrill(action: Command, env: NodeJS.ProcessEnv): Promise<void> {
  const command = commandBelowProgram(action);
  const source = sourceOfCommand(command.name());
  if (source === undefined) return;
  const { reportLook } = await import('./drills/report-look.ts');
  await reportLook(projectFrom(action.opts(), env), source);
}

/** `alerts` of `alerts ls`. */
function commandBelowProgram(action: Command): Command {
  let command = action;
  while (command.parent?.parent) command = command.parent;
  return command;
}

/** Runs one command line (without node and script) and resolves with its exit code; output has been written by then. */
export async function main(args: readonly string[], { process: host = process } = {}): Promise<ExitCode> {
  const output = createOutput({ stdout: host.stdout, stderr: host.stderr, env: host.env });
  const interruption = createInterruption(host, output);
  let named: string | undefined;
  const deps: CommandDeps = {
    output,
    env: host.env,
    signal: interruption.signal,
    onInterrupt: interruption.onInterrupt,
    onForce: interruption.onForce,
    projectFrom(options) {
      named = options.project;
      return projectFrom(options, host.env);
    },
    connect: async (project) => (await import('./platform/connection.ts')).connectPlatform(project),
  };
  const program = createProgram(deps, await registersFor(args));
  // The catalog of faults would make every other command start later.
  if (args.some((word) => word === 'inject' || word === 'completion')) {
    (await import('./commands/chaos/fault-options.ts')).addFaultOptions(program);
  }
  program.hook('preAction', (_, action) => output.use(outputMode(action.optsWithGlobals())));
  program.hook('preAction', (_, action) => reportToDrill(action, host.env));
  try {
    await program.parseAsync([...args], { from: 'user' });
    return await interruption.exitCodeOr(exitCodeOf(host));
  } catch (error) {
    // An aborted wait is the expected end of an interrupted command.
    if (interruption.signal.aborted) return interruption.exitCodeOr(exitCodes.failed);
    if (error instanceof CommanderError) return reportUsage(error, { args, program, output });
    const explained = toCliError(error);
    explained.next = withProject(explained.next, named);
    output.error(explained);
    if (host.env.SHOPCTL_DEBUG && error instanceof Error) host.stderr.write(`${error.stack}\n`);
    return explained.exitCode;
  }
}

/** The commands that an advice names, of the project that the command line named: they are there to be copied. */
function withProject(next: string | undefined, project: string | undefined): string | undefined {
  if (project === undefined) return next;
  return next?.replaceAll(/"shopctl ([^"]+)"/g, (quoted, command: string) =>
    /(^| )(-p|--project|--help)( |$)/.test(command) ? quoted : `"shopctl ${command} -p ${project}"`,
  );
}

/** Commands say "a check failed" by setting process.exitCode, so that their result is still printed. */
function exitCodeOf(host: NodeJS.Process): ExitCode {
  return (host.exitCode ?? exitCodes.ok) as ExitCode;
}

interface CommandLine {
  readonly args: readonly string[];
  readonly program: Command;
  readonly output: ConfigurableOutput;
}

/**
 * commander prints help and version itself and then throws, as it does for a wrong command line, which is reported
 * here.
 */
function reportUsage(error: CommanderError, { args, program, output }: CommandLine): ExitCode {
  if (error.exitCode === 0) return exitCodes.ok;
  // Without a command there is nothing wrong to report; the help has been printed.
  if (error.code !== 'commander.help') {
    // The options were not parsed to their end, so the words themselves say what was asked for.
    output.use(/(^| )(--json|--format[ =]json)( |$)/.test(args.join(' ')) ? 'json' : 'text');
    output.error(usageError(error, commandIn(args, program)));
  }
  return exitCodes.usage;
}

/** What other tools call options of `inject`; by their letters they are like others. */
const otherNames: Readonly<Record<string, string>> = { '--for': '--ttl', '--duration': '--ttl' };

/** By commander's codes; any other is about words that are missing, too many or exclude each other. */
const usageCodes: Readonly<Record<string, CliErrorCode>> = {
  'commander.unknownCommand': 'unknown_command',
  'commander.unknownOption': 'unknown_option',
  'commander.invalidArgument': 'invalid_argument',
};

/** "error: option '--rate' argument 'x' is invalid. expected a number" and "(Did you mean status?)" in our form. */
function usageError({ code, message }: CommanderError, command: string): CliError {
  let [what = '', suggestion] = message.replace(/^error: /, '').split('\n');
  const [said = '', why] = what.split(' is invalid. ');
  const meant = otherNames[/^unknown option '([^']+)'/.exec(said)?.[1] ?? ''];
  if (meant !== undefined && command === 'shopctl chaos inject') suggestion = `(Did you mean ${meant}?)`;
  return new CliError({
    code: usageCodes[code] ?? 'invalid_usage',
    what: why === undefined ? said : `${said} is invalid`,
    ...((why ?? suggestion) && { why: why ?? suggestion?.replace(/^\((.*)\)$/, '$1') }),
    next: `see "${command} --help"`,
  });
}

/** As far as the words name commands: `shopctl chaos run`. */
function commandIn(args: readonly string[], program: Command): string {
  let command = program;
  const names = [program.name()];
  for (const word of args) {
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) break;
    command = next;
    names.push(next.name());
  }
  return names.join(' ');
}

function outputMode({ json, format }: CommonOptions): 'text' | 'json' {
  return json === true || format === 'json' ? 'json' : 'text';
}
