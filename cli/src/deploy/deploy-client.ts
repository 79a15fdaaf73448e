import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../errors.ts';
import { callJson, createControlClient } from '../platform/control-client.ts';
import type { Project } from '../platform/project.ts';
import type { DeployAction } from './refusals.ts';
import type { DeployList, DeployRequest, PlannedDeploy, RollbackRequest } from './requests.ts';
import { type DatedVerdict, type DeployRun, isOver } from './run.ts';

const POLL_MS = 200;

/** What can be asked of the supervisor about deploys. Every call throws CliError: exit code 4 when no supervisor listens. */
export interface DeployClient {
  list(): Promise<DeployList>;
  start(request: DeployRequest): Promise<DeployRun>;
  plan(request: DeployRequest): Promise<PlannedDeploy>;
  act(action: DeployAction): Promise<DeployRun>;
  rollBack(request: RollbackRequest): Promise<DeployRun>;
  unpin(
    request: Pick<RollbackRequest, 'service' | 'asked'>,
  ): Promise<{ readonly changed: boolean; readonly from?: string }>;
  /** Resolves with its end, or when an operator has to decide; `onChange` is called with what happens until then. */
  follow(
    id: string,
    onChange: (run: DeployRun, progress: DatedVerdict | undefined) => void,
    options?: { readonly untilHeld?: boolean },
  ): Promise<DeployRun>;
}

export function createDeployClient(project: Project): DeployClient {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    // Whether a supervisor responds at all is known sooner.
    await createControlClient(project).state();
    return callJson<T>({ project, method, path: `/v1/deploys${path}`, body });
  };
  const list = () => call<DeployList>('GET', '');
  return {
    list,
    start: (request) => call('POST', '', request),
    plan: (request) => call('POST', '', { ...request, dryRun: true }),
    act: (action) => call('POST', `/${action}`, {}),
    rollBack: (request) => call('POST', '/rollback', request),
    unpin: (request) => call('POST', '/unpin', request),
    async follow(id, onChange, { untilHeld = false } = {}) {
      let seen = '';
      for (;;) {
        const { runs, progress } = await list();
        const run = runs.find((one) => one.id === id);
        if (run === undefined) throw lost(id);
        const now = JSON.stringify([run, progress]);
        if (now !== seen) onChange(run, progress);
        seen = now;
        if (untilHeld && run.state === 'held') return run;
        // The old set is removed after the end.
        if (isOver(run.state) && (await list()).current !== id) return run;
        await delay(POLL_MS);
      }
    },
  };
}

function lost(id: string): CliError {
  return new CliError({
    code: 'no_deploy',
    what: `the deploy ${id} is not kept any more`,
    next: 'see "shopctl deploy history"',
  });
}
