import { messageOf } from './failures.ts';
import { refuseHarnessVariables } from './harness.ts';
import { createLogger, type Logger } from './logger.ts';
import { ownRelease } from './release.ts';
import { SUCCESSOR_SERVES } from './succession.ts';
import { announceVersion } from './telemetry/service-version.ts';
import { shutdownTelemetry } from './telemetry/shutdown.ts';

export interface Lifecycle {
  readonly logger: Logger;
  /** How long `drain` and `close` together may take, in ms, before the process exits anyway. */
  readonly drainTimeoutMs: number;
  /** Also ends when standard input closes: the supervisor that held its other end has exited. */
  readonly exitWithParent: boolean;
  /** Stops taking work and resolves when in-flight work has ended. */
  drain(end: EndOfService): Promise<void>;
}

export interface EndOfService {
  /** Another process serves its port already. */
  readonly hasSuccessor: boolean;
}

/**
 * Drains at SIGTERM, SIGINT, SUCCESSOR_SERVES or the loss of the parent, and resolves then; a second signal exits immediately.
 * What the caller opened closes after it (`await using`), within the same limit.
 */
export async function serveUntilSignal(lifecycle: Lifecycle): Promise<void> {
  const { logger } = lifecycle;
  const reason = await firstReasonToStop(lifecycle.exitWithParent);
  logger.info({ reason, limitMs: lifecycle.drainTimeoutMs }, 'draining');
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => process.exit(1));
  setTimeout(() => {
    logger.warn({ limitMs: lifecycle.drainTimeoutMs }, 'work in flight did not end in time');
    void endWith(1);
  }, lifecycle.drainTimeoutMs).unref();
  await lifecycle.drain({ hasSuccessor: reason === SUCCESSOR_SERVES });
}

function firstReasonToStop(exitWithParent: boolean): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', SUCCESSOR_SERVES] as const) process.once(signal, () => resolve(signal));
    if (!exitWithParent) return;
    process.stdin.once('end', () => resolve('the parent is gone')).once('error', () => resolve('the parent is gone'));
    process.stdin.resume();
  });
}

/**
 * Runs a service's main and ends the process: 0 after a drain, 1 when it could not serve or failed where nothing catches.
 * Each end is one log record, and telemetry is flushed last.
 */
export async function runService(
  service: string,
  env: Readonly<Record<string, string | undefined>>,
  main: () => Promise<void>,
): Promise<never> {
  announceVersion(ownRelease(env).version);
  const logger = createLogger({ service, instance: env.INSTANCE ?? `${service}-1`, level: 'info' });
  process.on('uncaughtException', (error, origin) => {
    logger.fatal({ err: error }, origin === 'unhandledRejection' ? 'unhandled rejection' : 'uncaught exception');
    void endWith(1);
  });
  let code = 0;
  try {
    refuseHarnessVariables(env);
    await main();
  } catch (error) {
    logger.fatal({ err: error }, `could not serve: ${messageOf(error)}`);
    code = 1;
  }
  return endWith(code);
}

/** The first end decides the code; what fails while telemetry is flushed changes nothing any more. */
async function endWith(code: number): Promise<never> {
  process.exitCode ??= code;
  await shutdownTelemetry();
  process.exit();
}
