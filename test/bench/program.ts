import { Command, CommanderError } from 'commander';
import { CliError, toCliError } from '../../cli/src/errors.ts';
import { type ExitCode, exitCodes } from '../../cli/src/exit-codes.ts';
import { createOutput, type Output, type OutputStream } from '../../cli/src/output/output.ts';

/** The exit codes of the benchmarks, as their `--help` lists them. */
const EXIT_CODES = `
Exit codes: 0 measured, 1 a target was missed, 2 wrong usage, 3 something could not be measured.`;

/** The command line of a benchmark that is started as `npm run NAME`; its options are added by the caller. */
export function benchmark(name: string, description: string): Command {
  return new Command(`npm run ${name} --`).description(description).addHelpText('after', EXIT_CODES);
}

export interface Host {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Parses a benchmark's command line, measures, and resolves with its exit code. A wrong command line ends with 2, a
 * measurement that throws with 3 or with the exit code of its error. It never ends with 1, which is for what was
 * measured. All is reported by then: sentences for errors that were expected, a stack for others.
 */
export async function runBenchmark<Options extends object>(
  command: Command,
  measure: (options: Options, output: Output) => Promise<ExitCode>,
  { args = process.argv.slice(2), host = process }: { args?: readonly string[]; host?: Host } = {},
): Promise<ExitCode> {
  const output = createOutput(host);
  let exitCode: ExitCode = exitCodes.ok;
  command
    .exitOverride()
    .configureOutput({ writeOut: (text) => host.stdout.write(text), outputError: () => undefined })
    .action(async (options: Options & { readonly json?: boolean }) => {
      output.use(options.json === true ? 'json' : 'text');
      exitCode = await measure(options, output);
    });
  try {
    await command.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.ok;
    const explained = error instanceof CommanderError ? usageError(error.message, command) : notMeasured(error);
    output.error(explained);
    return explained.exitCode;
  }
}

/** Words that each are right and do not go together. */
export function usageError(message: string, command: Command): CliError {
  return new CliError({
    code: 'invalid_usage',
    what: message.replace(/^error: /, ''),
    next: `see "${command.name()} --help"`,
  });
}

/** What is reported of a measurement that threw `error`, and its exit code. */
export function notMeasured(error: unknown): CliError {
  const { what, why, next, exitCode } = toCliError(error);
  if (exitCode !== exitCodes.failed) return toCliError(error);
  // It was not expected, so the place where it was thrown helps. The stack repeats the message, of which one line is
  // enough.
  const reason = error instanceof CliError || !(error instanceof Error) ? why : error.stack;
  return new CliError({
    code: 'not_measured',
    what: `could not be measured: ${what.split('\n', 1)[0]}`,
    ...(reason !== undefined && { why: reason }),
    ...(next !== undefined && { next }),
    cause: error,
  });
}
