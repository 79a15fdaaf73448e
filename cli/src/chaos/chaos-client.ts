import type { ErrorBody } from '../errors.ts';
import { callJson, stream } from '../platform/control-client.ts';
import type { Project } from '../platform/project.ts';
import type { ClearResult, InjectRequest, Lease } from './lease.ts';
import type { PlannedFault } from './preflight.ts';
import type { InjectProgress } from './supervise.ts';

/** Requests to a supervisor about faults. Every call throws CliError: exit code 4 without a supervisor. */
export interface ChaosClient {
  list(): Promise<readonly Lease[]>;
  /** For each the reason why it cannot be injected into the running platform, or null. Changes nothing. */
  check(planned: readonly PlannedFault[]): Promise<readonly (ErrorBody | null)[]>;
  /** Closing the connection before the first line reverts the fault; a held one also later. */
  inject(request: InjectRequest, signal: AbortSignal): AsyncIterable<InjectProgress>;
  /** Of these ids those of active faults that are not in place any more. */
  lost(ids: readonly string[]): Promise<readonly string[]>;
  /** All when no id is given. */
  clear(ids: readonly string[] | undefined, why: string): Promise<ClearResult>;
}

/** A supervisor that is stopped (SIGSTOP) accepts connections and never responds; measuring again takes seconds. ms. */
const LIST_LIMIT_MS = 30_000;
/** The longest end of a fault is a component that starts again, ms. */
const CLEAR_LIMIT_MS = 90_000;

/** Connects on each call. */
export function createChaosClient(project: Project): ChaosClient {
  const within = (limitMs: number) => ({ project, signal: AbortSignal.timeout(limitMs) });
  return {
    list: () => callJson({ ...within(LIST_LIMIT_MS), method: 'GET', path: '/v1/chaos' }),
    check: (body) => callJson({ project, method: 'POST', path: '/v1/chaos/check', body }),
    lost: (ids) => callJson({ ...within(LIST_LIMIT_MS), method: 'POST', path: '/v1/chaos/lost', body: ids }),
    inject: (body, signal) => stream({ project, method: 'POST', path: '/v1/chaos/faults', body, signal }),
    clear: (ids, why) =>
      callJson({ ...within(CLEAR_LIMIT_MS), method: 'POST', path: '/v1/chaos/clear', body: { ids, why } }),
  };
}
