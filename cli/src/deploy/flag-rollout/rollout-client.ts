import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../../errors.ts';
import { callJson, createControlClient } from '../../platform/control-client.ts';
import type { Project } from '../../platform/project.ts';
import type { FlagRolloutRequest, FlagRolloutSummary } from './requests.ts';

const POLL_MS = 300;

/** What can be asked of the supervisor about rollouts. Every call throws CliError: exit code 4 when no supervisor listens. */
export interface RolloutClient {
  list(): Promise<readonly FlagRolloutSummary[]>;
  start(request: FlagRolloutRequest): Promise<FlagRolloutSummary>;
  abort(): Promise<FlagRolloutSummary>;
  /** Resolves with its end; `onChange` is called with each look at it until then. */
  follow(id: string, onChange: (rollout: FlagRolloutSummary) => void): Promise<FlagRolloutSummary>;
}

export function createRolloutClient(project: Project): RolloutClient {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    // Whether a supervisor responds at all is known sooner.
    await createControlClient(project).state();
    return callJson<T>({ project, method, path: `/v1/flag-rollouts${path}`, body });
  };
  const list = () => call<readonly FlagRolloutSummary[]>('GET', '');
  return {
    list,
    start: (request) => call('POST', '', request),
    abort: () => call('POST', '/abort', {}),
    async follow(id, onChange) {
      for (;;) {
        const rollout = (await list()).find((one) => one.id === id);
        if (rollout === undefined) throw lost(id);
        onChange(rollout);
        if (rollout.isOver) return rollout;
        await delay(POLL_MS);
      }
    },
  };
}

function lost(id: string): CliError {
  return new CliError({
    code: 'no_deploy',
    what: `the rollout ${id} is not kept any more`,
    next: 'see "shopctl flags rollouts"',
  });
}
