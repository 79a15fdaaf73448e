import type { Asked } from '../platform/change-log.ts';
import { callJson, createControlClient, stream } from '../platform/control-client.ts';
import type { Project } from '../platform/project.ts';
import type { MatcherFields } from './matcher.ts';
import type { PagerEvent } from './page-event.ts';
import type { PagerView, ShownAlert, ShownSilence } from './pager-view.ts';

export interface AcknowledgeRequest {
  readonly fingerprints: readonly string[];
  readonly note?: string;
  readonly asked: Asked;
}

export interface SilenceRequest {
  readonly matchers: readonly MatcherFields[];
  readonly forMs: number;
  readonly reason: string;
  readonly asked: Asked;
}

export interface UnsilenceRequest {
  readonly ids: readonly string[];
  readonly asked: Asked;
}

/** What is known when a client begins to follow, and then each event. */
export type PagerNews = ({ readonly type: 'now' } & PagerView) | PagerEvent;

/** The pager of a running platform. Every call throws CliError: exit code 4 when no supervisor listens. */
export interface PagerClient {
  view(): Promise<PagerView>;
  /** Resolves to those that had not been acknowledged. */
  acknowledge(request: AcknowledgeRequest): Promise<readonly ShownAlert[]>;
  silence(request: SilenceRequest): Promise<ShownSilence>;
  /** Resolves to the ids of those that had not ended. */
  unsilence(request: UnsilenceRequest): Promise<readonly string[]>;
  /** Ends when the supervisor does. */
  events(signal: AbortSignal): AsyncIterable<PagerNews>;
}

const LIMIT_MS = 8_000;

export function createPagerClient(project: Project): PagerClient {
  const call = async <T>(method: string, path: string, body?: unknown) => {
    // Whether a supervisor responds at all.
    await createControlClient(project).state();
    return callJson<T>({ project, method, path, body, signal: AbortSignal.timeout(LIMIT_MS) });
  };
  return {
    view: () => call('GET', '/v1/pager'),
    acknowledge: async (body) =>
      (await call<{ acknowledged: ShownAlert[] }>('POST', '/v1/pager/acknowledge', body)).acknowledged,
    silence: async (body) => (await call<{ silence: ShownSilence }>('POST', '/v1/pager/silence', body)).silence,
    unsilence: async (body) => (await call<{ ended: string[] }>('POST', '/v1/pager/unsilence', body)).ended,
    events: (signal) => stream<PagerNews>({ project, method: 'GET', path: '/v1/pager/events', signal }),
  };
}
