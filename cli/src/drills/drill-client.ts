import { callJson, createControlClient } from '../platform/control-client.ts';
import type { Project } from '../platform/project.ts';
import type { Hint } from './engine/round-types.ts';
import type { DrillRequests, ShownRound, StartRequest } from './requests.ts';

/** `take: false` gives the cost alone. */
export type ShownHint = Pick<Hint, 'stage' | 'cost'> & Partial<Pick<Hint, 'text'>>;

/** The response to each request. */
type ResponseTo<Name extends keyof DrillRequests> = Name extends 'hint' ? ShownHint : ShownRound;

/** The drill of a running platform. Every call throws CliError: exit code 4 without a supervisor, 1 without a drill. */
export interface DrillClient {
  start(request: StartRequest): Promise<ShownRound>;
  status(): Promise<ShownRound>;
  ask<Name extends keyof DrillRequests>(name: Name, body: DrillRequests[Name]): Promise<ResponseTo<Name>>;
}

/** Everything that was injected and changed is reverted, ms. */
const LIMIT_MS = 180_000;

/** Connects on each call. */
export function createDrillClient(project: Project): DrillClient {
  const call = async <T>(method: string, path: string, body?: unknown) => {
    // Whether a supervisor responds at all is known sooner.
    await createControlClient(project).state();
    return callJson<T>({ project, method, path, body, signal: AbortSignal.timeout(LIMIT_MS) });
  };
  return {
    start: (body) => call('POST', '/v1/drill/start', body),
    status: () => call('GET', '/v1/drill'),
    ask: (name, body) => call('POST', `/v1/drill/${name}`, body),
  };
}
