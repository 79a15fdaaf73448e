import type { Readable } from 'node:stream';
import type { ExecaError } from 'execa';

export interface ProgramOptions {
  readonly cwd?: string;
  /** The whole environment; without it, that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  readonly uid?: number;
  readonly gid?: number;
  readonly timeoutMs?: number;
  /** Ends the program. */
  readonly signal?: AbortSignal | undefined;
  /** What it reads; by default nothing. */
  readonly input?: string | Readable;
}

/**
 * Runs a program to its end, and resolves with what it wrote, without the last line break. It ends with this process.
 * Rejects when it cannot be executed, fails, or is ended; `complaintOf` has the reason.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  { env, timeoutMs, signal, input = '', ...options }: ProgramOptions = {},
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  // Loaded here: most commands run no program.
  const { execa } = await import('execa');
  return execa(file, args, {
    ...options,
    input,
    ...(env && { env, extendEnv: false }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
    ...(signal && { cancelSignal: signal }),
  });
}

/** What a failed program wrote, to stderr or else to stdout; otherwise, or out of time, how it ended. */
export function complaintOf(error: unknown): string {
  const { stderr = '', stdout = '', timedOut, shortMessage, message } = error as Partial<ExecaError> & Error;
  const written = timedOut ? '' : String(stderr).trim() || String(stdout).trim();
  return written || shortMessage || message;
}

/** The exit code; undefined when a signal ended the program, or it was never started. */
export function exitCodeOf(error: unknown): number | undefined {
  return (error as Partial<ExecaError>).exitCode;
}
