import type { Output } from '../output/output.ts';
import { findTool, installTool } from '../providers/resolve-tool.ts';
import type { ToolName } from '../providers/tool.ts';
import { formatDuration } from '../shared/duration.ts';
import { inspectionContext } from './component-context.ts';
import type { Project } from './project.ts';

/**
 * The path of a tool; where it is missing and available, it is downloaded, unpacked or built first, which is reported.
 * Throws ComponentUnavailableError (3) when it cannot be. Ctrl-C ends that and leaves nothing of it.
 */
export async function haveTool(
  name: ToolName,
  project: Project,
  { output, env, signal }: { output: Output; env: NodeJS.ProcessEnv; signal: AbortSignal },
): Promise<string> {
  const context = inspectionContext(project, env);
  const found = await findTool(name, context);
  if (found !== undefined) return found;
  const began = performance.now();
  output.note(`${name} is not here yet: it is installed once, into ${project.cacheDir}`);
  const progress = output.progress(`installing ${name}`);
  try {
    await installTool(name, context, (message) => progress.update(message), { signal });
  } catch (error) {
    progress.fail(`${name} was not installed`);
    throw error;
  }
  progress.succeed(`${name} installed in ${formatDuration(performance.now() - began)}`);
  const installed = await findTool(name, context);
  if (installed === undefined) throw new Error(`${name} was installed and is not where it should be`);
  return installed;
}
