import { messageOf } from './failures.ts';
import { createLogger, type Logger } from './logger.ts';
import { shutdownTelemetry } from './telemetry/shutdown.ts';

export interface Lifecycle {
  readonly logger: Logger;
  /** How long `drain` and `close` together may take, in ms, before the process exits anyway. */
  readonly drainTimeoutMs: number;
  /** Also ends when standard input closes: the supervisor that held its other end is gone. */
  readonly exitWithParent: boolean;
  /** Stops taking work and resolves when work in flight has ended. */
  drain(): Promise<void>;
}

/**
 * Resolves when SIGTERM, SIGINT or the loss of the parent has been answered by a drain; a second signal exits at once.
 * What the caller opened closes after it (`await using`), within the same limit.
 */
export async function serveUntilSignal(lifecycle: Lifecycle): Promise<void> {
  const { logger } = lifecycle;
  const reason = await firstReasonToStop(lifecycle.exitWithParent);
  logger.info({ reason, limitMs: lifecycle.drainTimeoutMs }, 'draining');
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(1));
  setTimeout(() => {
    logger.warn({ limitMs: lifecycle.drainTimeoutMs }, 'work in flight did not end in time');
    process.exit(1);
  }, lifecycle.drainTimeoutMs).unref();
  await lifecycle.drain();
}

function firstReasonToStop(exitWithParent: boolean): Promise<string> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve('SIGTERM'));
    process.once('SIGINT', () => resolve('SIGINT'));
    if (!exitWithParent) return;
    process.stdin.once('end', () => resolve('the parent is gone')).once('error', () => resolve('the parent is gone'));
    process.stdin.resume();
  });
}

/**
 * Runs a service's main and ends the process: 0 after a drain, 1 when it could not serve, which is one log line and
 * never an unhandled rejection. Telemetry is flushed last.
 */
export async function runService(service: string, main: () => Promise<void>): Promise<never> {
  const logger = createLogger({ service, instance: `${service}-1`, level: 'info' });
  process.on('unhandledRejection', (error) => {
    logger.fatal({ err: error }, 'unhandled rejection');
    process.exit(1);
  });
  let code = 0;
  try {
    await main();
  } catch (error) {
    logger.fatal({ err: error }, `could not serve: ${messageOf(error)}`);
    code = 1;
  }
  await shutdownTelemetry();
  process.exit(code);
}
