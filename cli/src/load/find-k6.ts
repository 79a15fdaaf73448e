import type { CommandDeps } from '../commands/deps.ts';
import { formatDuration } from '../output/units.ts';
import { inspectionContext } from '../platform/component-context.ts';
import type { Project } from '../platform/project.ts';
import { findTool, installTool } from '../providers/resolve-tool.ts';

/**
 * The path of k6; it is downloaded or built first when it is not here and can be had, which is said. Throws ComponentUnavailableError
 * (3) when it cannot be. Ctrl-C ends that and leaves nothing of it.
 */
export async function findK6(project: Project, { output, env, signal }: CommandDeps): Promise<string> {
  const context = inspectionContext(project, env);
  const found = await findTool('k6', context);
  if (found !== undefined) return found;
  const began = performance.now();
  output.note(`k6 is not here yet: it is downloaded or built once, into ${project.cacheDir}`);
  const progress = output.progress('installing k6');
  try {
    await installTool('k6', context, (message) => progress.update(message), { signal });
  } catch (error) {
    progress.fail('k6 was not installed');
    throw error;
  }
  progress.succeed(`k6 installed in ${formatDuration(performance.now() - began)}`);
  const installed = await findTool('k6', context);
  if (installed === undefined) throw new Error('k6 was installed and is not where it should be');
  return installed;
}
