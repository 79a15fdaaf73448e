import { type CliErrorCode, errorCodes, isErrorCode } from './error-codes.ts';
import type { ExitCode } from './exit-codes.ts';

/** What a user reads when a command cannot do its work. */
export interface CliErrorDetails {
  /** The cause, for programs; it determines the exit code. */
  readonly code: CliErrorCode;
  /** What happened, one sentence without a full stop: "platform not running". */
  readonly what: string;
  /** Why it happened, as far as is known. May hold several lines. */
  readonly why?: string;
  /** What the reader can do about it. */
  readonly next?: string;
  readonly cause?: unknown;
}

/** An error with an explanation, whose code determines the exit code. Everything else that is thrown is a defect of ours. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
  readonly code: CliErrorCode;
  readonly what: string;
  readonly why: string | undefined;
  /** Where the command line named a project, its commands get it at the end; see `withProject`. */
  next: string | undefined;
  readonly exitCode: ExitCode;

  constructor({ code, what, why, next, cause }: CliErrorDetails) {
    super(why === undefined ? what : `${what}: ${why}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.what = what;
    this.why = why;
    this.next = next;
    this.exitCode = errorCodes[code].exitCode;
  }

  toJSON(): ErrorBody {
    const { code, what, why, next, exitCode } = this;
    return { code, what, ...(why && { why }), ...(next && { next }), exitCode };
  }
}

/** An error as `--json` prints it and as the control API sends it. */
export interface ErrorBody {
  readonly code: CliErrorCode;
  readonly what: string;
  readonly why?: string;
  readonly next?: string;
  readonly exitCode: ExitCode;
}

/** The error that another process sent. A code of another version is an unexpected error here. */
export function receivedError({ code, exitCode: _, ...details }: ErrorBody): CliError {
  return new CliError({ ...details, code: isErrorCode(code) ? code : 'unexpected_error' });
}

/** The message of anything thrown, including the reasons inside an AggregateError, which has no message. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  if (error instanceof Error) return error.message;
  return String(error);
}

/**
 * Turns anything thrown into a CliError. Errors of other layers that carry `code`, `why` or `next`
 * (ComponentUnavailableError, for instance) keep them.
 */
export function toCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  const { code, why, next } = (error ?? {}) as { code?: unknown; why?: unknown; next?: unknown };
  return new CliError({
    code: isErrorCode(code) ? code : 'unexpected_error',
    what: messageOf(error),
    ...(typeof why === 'string' && { why }),
    ...(typeof next === 'string' && { next }),
    cause: error,
  });
}
