import type { Availability, ComponentContext, OnProgress } from './component.ts';
import { instrumentationWays } from './instrumentation.ts';
import { k6Ways } from './k6.ts';
import { libfaketimeWays } from './libfaketime.ts';
import { promtoolWays } from './promtool.ts';
import { checkSource, forcedAlone, type InstallOptions, installFirst } from './resolve.ts';
import { installedWith, type ToolName, type ToolSource, toolNames } from './tool.ts';

type ToolContext = Pick<ComponentContext, 'cacheDir' | 'env' | 'root'>;

const ways: Readonly<Record<ToolName, (context: ToolContext) => readonly ToolSource[]>> = {
  k6: k6Ways,
  libfaketime: libfaketimeWays,
  instrumentation: instrumentationWays,
  promtool: promtoolWays,
};

/** Every way of every tool, for `doctor` and `setup`. */
export async function describeTools(context: ToolContext): Promise<Record<ToolName, Availability[]>> {
  const described = toolNames.map(
    async (name) => [name, await Promise.all(ways[name](context).map(checkSource))] as const,
  );
  return Object.fromEntries(await Promise.all(described)) as Record<ToolName, Availability[]>;
}

/** Makes a tool available when it is not. Throws ComponentUnavailableError (3) when none of its ways can. */
export async function installTool(
  name: ToolName,
  context: ToolContext,
  onProgress: OnProgress,
  { forced, signal }: InstallOptions = {},
): Promise<void> {
  return installFirst(name, forcedAlone(name, ways[name](context), forced), {
    cacheDir: context.cacheDir,
    onProgress,
    ...(signal && { signal }),
    lockName: installedWith[name] ?? name,
  });
}

/** Path of the first that serves; undefined when it would have to be installed first. Installs nothing. */
export async function findTool(name: ToolName, context: ToolContext): Promise<string | undefined> {
  for (const way of ways[name](context)) {
    if ((await checkSource(way)).available) return way.file();
  }
  return undefined;
}
