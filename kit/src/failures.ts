/**
 * The split that matters to callers: a transient failure may pass (retry, or treat the outcome as
 * unknown), a permanent one will not. The type decides, never a message text.
 */
export class TransientError extends Error {
  override readonly name: string = 'TransientError';
}

/** There was no connection, so nothing was sent: the same may be sent to another replica. */
export class NotSentError extends TransientError {
  override readonly name = 'NotSentError';
}

/** The connection broke after it had been made: the other side may have processed the request, and may have crashed. */
export class ConnectionLostError extends TransientError {
  override readonly name = 'ConnectionLostError';
}

/** No response arrived in time. */
export class OutOfTimeError extends TransientError {
  override readonly name = 'OutOfTimeError';
}

export class PermanentError extends Error {
  override readonly name: string = 'PermanentError';
}

/** The database did not respond, or rejected the statement for a transient reason. */
export class DatabaseUnavailableError extends TransientError {
  override readonly name = 'DatabaseUnavailableError';
  /** True when the statement was sent and its outcome is unknown: it may have taken effect. */
  readonly sent: boolean;

  constructor(message: string, options: { cause?: unknown; sent?: boolean } = {}) {
    super(message, options);
    this.sent = options.sent ?? false;
  }
}

/** Message of anything thrown, for a log line. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
