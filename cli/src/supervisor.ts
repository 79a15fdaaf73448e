import { openChaos } from './chaos/supervise.ts';
import { type FlagRolloutExtension, openFlagRollouts } from './deploy/flag-rollout/supervise.ts';
import { keptReleases } from './deploy/kept-releases.ts';
import { openDeploys } from './deploy/supervise.ts';
import { openDrills } from './drills/supervise.ts';
import { openMonitoring } from './monitoring/supervise.ts';
import { openOperations } from './operations/supervise.ts';
import { openPager } from './pager/supervise.ts';
import { supervisorBuild } from './platform/bundles.ts';
import { hasFailpoints } from './platform/failpoint-files.ts';
import { cloneRoot, openProject } from './platform/project.ts';
import { runSupervisor } from './platform/run-supervisor.ts';
import { createShopPlanner } from './platform/shop-planner.ts';
import { combineExtensions } from './platform/supervisor-extension.ts';
import { endContainers } from './providers/docker/leftovers.ts';

// Started by `up` in a separate session with a project's name; its output goes to the project's supervisor.log. The
// reaper, in whose environment little is left, starts it with a state directory to end the containers there.
const END_CONTAINERS = '--end-containers';
const [subject = 'shop', stateDir = ''] = process.argv.slice(2);
const work =
  subject === END_CONTAINERS
    ? endContainers(stateDir).then((count) => console.error(`reaper: ended ${count} containers`))
    : supervise(subject);
work.then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);

async function supervise(projectName: string): Promise<void> {
  const project = openProject(projectName, cloneRoot(), process.env);
  return runSupervisor({
    project,
    build: await supervisorBuild(project),
    failpoints: hasFailpoints(process.env),
    async openExtension(context) {
      const { env } = process;
      const chaos = await openChaos({ ...context, env });
      const pager = await openPager({ ...context, env });
      const monitoring = await openMonitoring({ ...context, env });
      // Each refuses to begin while the other is not over; nothing can be asked of either before both are there.
      let rollouts: FlagRolloutExtension | undefined;
      const deploys = await openDeploys({ ...context, env, obstacle: () => rollouts?.active() });
      rollouts = await openFlagRollouts({ ...context, obstacle: deploys.active });
      return combineExtensions([
        openOperations(context),
        chaos,
        monitoring,
        pager,
        deploys,
        rollouts,
        await openDrills({
          ...context,
          env,
          chaos,
          deploys,
          pager: pager.pager,
          auditRecent: monitoring.auditRecent,
        }),
      ]);
    },
    createPlanner: (context) =>
      createShopPlanner({
        ...context,
        project,
        env: process.env,
        keptReleases: (service) => keptReleases(project, service),
      }),
    containerEnder: [process.execPath, process.argv[1] as string, END_CONTAINERS, project.stateDir],
  });
}
