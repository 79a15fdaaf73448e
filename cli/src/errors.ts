import { type ExitCode, exitCodes } from './exit-codes.ts';

/** What a user is told when a command cannot do its work. */
export interface CliErrorDetails {
  /** What happened, one sentence without a full stop: "platform not running". */
  readonly what: string;
  /** Why it happened, as far as is known. May hold several lines. */
  readonly why?: string;
  /** What the reader can do about it. */
  readonly next?: string;
  readonly exitCode?: ExitCode;
  readonly cause?: unknown;
}

/** An error with an explanation and an exit code (default 1). Everything else that is thrown is a defect of ours. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
  readonly what: string;
  readonly why: string | undefined;
  readonly next: string | undefined;
  readonly exitCode: ExitCode;

  constructor({ what, why, next, exitCode = exitCodes.failed, cause }: CliErrorDetails) {
    super(why === undefined ? what : `${what}: ${why}`, cause === undefined ? undefined : { cause });
    this.what = what;
    this.why = why;
    this.next = next;
    this.exitCode = exitCode;
  }

  toJSON(): Record<string, unknown> {
    return { what: this.what, why: this.why, next: this.next, exitCode: this.exitCode };
  }
}

/** The message of anything thrown, including the reasons inside an AggregateError, which has none of its own. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  if (error instanceof Error) return error.message;
  return String(error);
}

/**
 * Turns anything thrown into a CliError. Errors of other layers that carry `exitCode`, `why` or `next` of their own
 * (ComponentUnavailableError, for instance) keep them.
 */
export function toCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  const { exitCode, why, next } = (error ?? {}) as { exitCode?: unknown; why?: unknown; next?: unknown };
  return new CliError({
    what: messageOf(error),
    ...(typeof why === 'string' && { why }),
    ...(typeof next === 'string' && { next }),
    exitCode: isExitCode(exitCode) ? exitCode : exitCodes.failed,
    cause: error,
  });
}

function isExitCode(value: unknown): value is ExitCode {
  return Object.values(exitCodes).includes(value as ExitCode);
}
