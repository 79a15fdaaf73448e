import { CliError } from '../errors.ts';
import type { RuntimeKind } from '../platform/service-runtime.ts';
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

export function noLongerKept(service: string, version: string): CliError {
  return new CliError({
    code: 'release_unavailable',
    what: `the release ${version} of ${service} is not kept any more`,
    why: 'its build was removed',
    next: `deploy its sources again: "shopctl deploy ${service} --from REF"`,
  });
}

export function runsAlready(service: string, version: string): CliError {
  return new CliError({
    code: 'no_deploy',
    what: `${service} runs ${version} already`,
    next: 'choose another version with --to: see "shopctl deploy history"',
  });
}

export function notReady(service: string, instance: string | undefined): CliError {
  return new CliError({
    code: 'component_not_running',
    what: instance === undefined ? `${service} is not in the running platform` : `${instance} is not ready`,
    why: 'a deploy replaces replicas that serve',
    next: instance === undefined ? `start it with "shopctl up ${service}"` : 'see "shopctl status"',
  });
}

export function outOfReach(service: string, refusal: string): CliError {
  return new CliError({
    code: 'plan_out_of_reach',
    what: `the requests of ${service} are too few for this plan`,
    why: refusal,
    next: 'choose another plan ("shopctl deploy plan"), raise the load, or add --force',
  });
}

export function needsTerms(service: string): CliError {
  return new CliError({
    code: 'invalid_strategy',
    what: `a canary of ${service} needs a plan, and no other strategy has one`,
    next: 'use "shopctl deploy SERVICE --strategy canary --plan FILE"',
  });
}

export function needsContainers(service: string): CliError {
  return new CliError({
    code: 'invalid_release',
    what: `no image of ${service} can be deployed here`,
    why: 'services run as processes, and a release for processes is built from sources',
    next: 'use --from or --dir, or run "shopctl up --runtime docker"',
  });
}

export function needsOwnInstrumentation(service: string): CliError {
  return new CliError({
    code: 'release_unavailable',
    what: `${service} cannot be deployed here`,
    why: 'a release consists of a service with its own instrumentation',
    next: 'run "shopctl up --instrumentation manual"',
  });
}

export function otherRuntime(service: string, version: string, runtime: RuntimeKind): CliError {
  return new CliError({
    code: 'release_unavailable',
    what: `the release ${version} of ${service} cannot run here`,
    why: runtime === 'docker' ? 'it was built as an image' : 'it was built for processes',
    next: `deploy its sources again, or run "shopctl up --runtime ${runtime}"`,
  });
}

export function needsFailpoints(service: string): CliError {
  return new CliError({
    code: 'failpoints_disabled',
    what: `no bug can be seeded into ${service}`,
    why: 'seeded bugs need a platform that was started with failpoints',
    next: 'run "shopctl down", then "SHOPCTL_FAILPOINTS=1 shopctl up"',
  });
}

export function noCopies(service: string): CliError {
  return new CliError({
    code: 'invalid_strategy',
    what: `${service} cannot be deployed in the shadow`,
    why: 'it gets calls, and only messages can be copied without an effect on their sender',
    next: 'use --strategy rolling or blue-green',
  });
}

export function noSecondSet(service: string): CliError {
  return new CliError({
    code: 'invalid_strategy',
    what: `${service} has no blue-green deploy`,
    why: 'its clients know one port, and all processes that have it serve it',
    next: 'use --strategy rolling',
  });
}
