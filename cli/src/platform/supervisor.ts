import { cloneRoot, openProject } from './project.ts';
import { runSupervisor } from './run-supervisor.ts';
import { createShopPlanner } from './shop-planner.ts';

// Started by `up` in a session of its own; its output goes to the project's supervisor.log.
const [projectName = 'shop'] = process.argv.slice(2);
const project = openProject(projectName, cloneRoot(), process.env);
try {
  await runSupervisor({
    project,
    createPlanner: (context) => createShopPlanner({ ...context, project, env: process.env }),
  });
  process.exit(0);
} catch (error) {
  console.error(error);
  process.exit(1);
}
