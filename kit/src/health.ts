import { messageOf } from './failures.ts';
import { ownRelease, type Release } from './release.ts';

/** Rejects with the reason while the dependency is unavailable. */
export type Check = (signal: AbortSignal) => Promise<void>;

export interface DependencyHealth {
  readonly name: string;
  readonly status: 'up' | 'down';
  /** Why it is down: an error's code or "no response in 1000 ms"; never a host name. */
  readonly reason?: string;
}

/** The body of `/health/ready`. */
export interface Readiness extends Release {
  /** Id of the responding process: a supervisor whose child lost the race for a port detects another process. */
  readonly pid: number;
  readonly status: 'ready' | 'not ready';
  readonly dependencies: readonly DependencyHealth[];
}

export interface Health {
  /** Checks all dependencies concurrently; concurrent callers share the result. */
  readiness(): Promise<Readiness>;
  /** From now on not ready, regardless of the dependencies: traffic goes elsewhere while in-flight work ends. */
  drain(): void;
}

const CHECK_TIMEOUT_MS = 1_000;

/**
 * Liveness checks nothing: a service that can respond is alive, and restarting it would not bring its dependency back.
 * Readiness checks the dependencies without which no request can be served.
 */
export function createHealth(checks: Readonly<Record<string, Check>>): Health {
  let draining = false;
  let pending: Promise<Readiness> | undefined;

  async function ask(): Promise<Readiness> {
    const dependencies = await Promise.all(Object.entries(checks).map(([name, check]) => run(name, check)));
    const ready = !draining && dependencies.every(({ status }) => status === 'up');
    return {
      pid: process.pid,
      ...ownRelease(),
      status: ready ? 'ready' : 'not ready',
      dependencies: draining ? [...dependencies, { name: 'self', status: 'down', reason: 'draining' }] : dependencies,
    };
  }

  return {
    readiness() {
      pending ??= ask().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    drain() {
      draining = true;
    },
  };
}

async function run(name: string, check: Check): Promise<DependencyHealth> {
  const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`no response in ${CHECK_TIMEOUT_MS} ms`)), { once: true });
  });
  try {
    await Promise.race([check(signal), late]);
    return { name, status: 'up' };
  } catch (error) {
    return { name, status: 'down', reason: reasonOf(error) };
  }
}

/** The innermost error's code, which names no host; its message where there is no code. */
function reasonOf(error: unknown): string {
  let innermost = error;
  while (innermost instanceof Error && innermost.cause !== undefined) innermost = innermost.cause;
  if (innermost instanceof AggregateError && innermost.errors.length > 0) innermost = innermost.errors[0];
  if (innermost instanceof Error && 'code' in innermost && typeof innermost.code === 'string') return innermost.code;
  return messageOf(innermost);
}
