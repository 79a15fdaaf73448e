import { type Command, Option } from 'commander';
import { type Forge, forges } from './output/annotations.ts';
import type { Output } from './output/output.ts';
import type { PlatformConnection } from './platform/connection.ts';
import type { Project, ProjectOptions } from './platform/project.ts';

/** Characters of a line of help. */
const HELP_WIDTH = 100;

/** What every command is given. Commands read no globals. */
export interface CommandDeps {
  readonly output: Output;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by the first Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  /**
   * Registers what must be done when the command is interrupted; run in reverse order, after which the process exits
   * with 130 or 143. A command that registers nothing ends immediately. A second signal does not wait.
   */
  onInterrupt(cleanUp: () => Promise<void>): void;
  /** Called by the second signal instead of ending the process, once; for clean-ups that must not be skipped. */
  onForce?(handler: () => void): void;
  /** The project meant by `-p/--project`, the environment or the configuration file. */
  projectFrom(options: ProjectOptions): Project;
  /** Connects to the running platform; throws CliError (exit code 4) when it is not running. */
  connect(project: Project): Promise<PlatformConnection>;
}

/** Adds one command to the program. Definitions stay light; the work is imported inside the action. */
export type Register = (program: Command, deps: CommandDeps) => void;

/** Options every command that talks to a platform has. */
export interface CommonOptions extends ProjectOptions {
  readonly json?: boolean;
  readonly format?: 'table' | 'json';
}

/** Adds -p/--project, --json and --format, which the program itself interprets before the action runs. */
export function withCommonOptions(command: Command): Command {
  return command
    .option('-p, --project <name>', 'project name (default: shop; SHOPCTL_PROJECT)')
    .option('--json', 'JSON on standard output, same as --format json')
    .addOption(new Option('--format <format>', 'how results are written').choices(['table', 'json']));
}

/** Of commands that end with a verdict. */
export interface AnnotationOptions {
  /** Absent: as the environment says. */
  readonly annotations?: Forge;
}

/** Adds --annotations. */
export function withAnnotations(command: Command): Command {
  return command.addOption(
    new Option(
      '--annotations <forge>',
      'what did not pass as annotations and a summary of this forge (default: the one that runs the command)',
    ).choices(forges),
  );
}

/** What a command changes and its exit codes, as `--help` and docs/cli.md show them. Every command that acts has it. */
export function effects(sideEffects: string, exitCodes: string): (context: { command: Command }) => string {
  return ({ command }) => {
    const lines = [`Side effects: ${sideEffects}.`, `Exit codes: ${exitCodes}.`];
    return `\n${lines.map((line) => command.createHelp().boxWrap(line, HELP_WIDTH)).join('\n')}`;
  };
}
