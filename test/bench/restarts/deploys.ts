/** Deploys in place of restarts: the sources of the clone each time, as another release. */
import { createDeployClient } from '../../../cli/src/deploy/deploy-client.ts';
import type { Strategy } from '../../../cli/src/deploy/run.ts';
import { askedFrom } from '../../../cli/src/platform/change-log.ts';
import type { Project } from '../../../cli/src/platform/project.ts';

/** What a deploy is measured with: a canary waits for its plan, and a shadow replaces nothing. */
export const deployStrategies = ['rolling', 'blue-green'] as const satisfies readonly Strategy[];
export type DeployStrategy = (typeof deployStrategies)[number];

export interface Deploys {
  readonly project: Project;
  readonly strategy: DeployStrategy;
}

let count = 0;

/** Resolves when the release runs, and rejects with why it does not. */
export async function deployAgain(service: string, { project, strategy }: Deploys): Promise<void> {
  const client = createDeployClient(project);
  count += 1;
  const { id } = await client.start({
    service,
    strategy,
    // The same bundles under another version.
    env: { BENCH_DEPLOY: String(count) },
    keepMs: 0,
    asked: askedFrom('command line'),
  });
  const { state, cause } = await client.follow(id, () => undefined);
  if (state !== 'done') throw new Error(`${state}: ${cause?.text ?? 'why is not known'}`);
}
