import { CliError } from '../errors.ts';
import type { DeployRun, DeployState } from './run.ts';

/** What operators do to a deploy that is not over. */
export type DeployAction = 'promote' | 'pause' | 'resume' | 'abort';

export function deployActive({ service, to, state }: DeployRun): CliError {
  return new CliError({
    code: 'deploy_active',
    what: `a deploy of ${service} to ${to} is ${state}`,
    next: 'wait for its end ("shopctl deploy status"), roll it back ("shopctl deploy abort"), or add --supersede',
  });
}

export function noDeploy(action: DeployAction): CliError {
  return new CliError({
    code: 'no_deploy',
    what: `there is no deploy to ${action}`,
    next: 'see "shopctl deploy history"; "shopctl deploy rollback SERVICE" deploys the release of before',
  });
}

export function notNow(action: DeployAction, state: DeployState, why: string): CliError {
  return new CliError({ code: 'no_deploy', what: `the deploy cannot be made to ${action} while it is ${state}`, why });
}
