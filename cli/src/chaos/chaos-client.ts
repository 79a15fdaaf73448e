import { callJson, stream } from '../platform/control-client.ts';
import type { Project } from '../platform/project.ts';
import type { HealResult, InjectRequest, Lease } from './lease.ts';
import type { InjectProgress } from './supervise.ts';

/** What can be asked of a supervisor about faults. Every call throws CliError: exit code 4 when nobody listens. */
export interface ChaosClient {
  list(): Promise<readonly Lease[]>;
  /** Closing the connection before the first line takes the fault back; a held one also later. */
  inject(request: InjectRequest, signal: AbortSignal): AsyncIterable<InjectProgress>;
  /** All when no id is given. */
  clear(ids: readonly string[] | undefined, why: string): Promise<HealResult>;
}

/** Connects on each call. */
export function createChaosClient(project: Project): ChaosClient {
  return {
    list: () => callJson({ project, method: 'GET', path: '/v1/chaos' }),
    inject: (body, signal) => stream({ project, method: 'POST', path: '/v1/chaos/faults', body, signal }),
    clear: (ids, why) => callJson({ project, method: 'POST', path: '/v1/chaos/clear', body: { ids, why } }),
  };
}
