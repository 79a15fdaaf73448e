import type { CommandDeps } from '../commands/deps.ts';
import { formatDuration } from '../output/units.ts';
import { inspectionContext } from '../platform/component-context.ts';
import type { Project } from '../platform/project.ts';
import { findTool, installTool } from '../providers/resolve-tool.ts';

/**
 * The path of k6; it is built first when it is not here and can be had, which is said. Throws ComponentUnavailableError
 * (3) when it cannot be. Ctrl-C ends the build and leaves nothing of it.
 */
export async function findK6(project: Project, { output, env, signal }: CommandDeps): Promise<string> {
  const context = inspectionContext(project, env);
  const found = await findTool('k6', context);
  if (found !== undefined) return found;
  const began = performance.now();
  output.note(`k6 is not here yet: it is built once, into ${project.cacheDir}`);
  const progress = output.progress('building k6');
  try {
    await installTool('k6', context, (message) => progress.update(message), signal);
  } catch (error) {
    progress.fail('k6 was not built');
    throw error;
  }
  progress.succeed(`k6 built in ${formatDuration(performance.now() - began)}`);
  const built = await findTool('k6', context);
  if (built === undefined) throw new Error('k6 was built and is not where it should be');
  return built;
}
