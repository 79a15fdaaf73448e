import { expect, it } from 'vitest';
import type { CommandDeps } from '../../command-context.ts';
import { type DeployOptions, runDeploy } from './run-deploy.ts';

const deps = {
  projectFrom: () => {
    throw new Error('nothing is asked of a platform');
  },
} as unknown as CommandDeps;

const example = 'deploy/plans/orders.yaml';

it.each<[string, string, Partial<DeployOptions>, object]>([
  [
    'a plan for another strategy',
    'orders',
    { plan: example },
    { code: 'invalid_strategy', what: expect.stringContaining('--plan is') },
  ],
  [
    'what is to happen to a canary, for another strategy',
    'orders',
    { onFailure: 'freeze', force: true },
    { code: 'invalid_strategy', what: '--on-failure, --force are for canaries only' },
  ],
  [
    'a canary of a service whose callers choose no replica',
    'gateway',
    { strategy: 'canary' },
    { code: 'invalid_strategy' },
  ],
  [
    'a plan of another service',
    'catalog',
    { strategy: 'canary', plan: example },
    { code: 'invalid_plan', what: expect.stringContaining('of orders, not of catalog') },
  ],
  [
    'a plan that is not there',
    'catalog',
    { strategy: 'canary', plan: 'plans/none.yaml' },
    { code: 'invalid_plan', what: 'cannot read the plan plans/none.yaml' },
  ],
])('%s is refused before a platform is asked', async (_what, service, options, error) => {
  await expect(runDeploy(service, { strategy: 'rolling', ...options } as DeployOptions, deps)).rejects.toMatchObject({
    exitCode: 2,
    ...error,
  });
});
