import { type EngineUrl, openEngine } from './engine.ts';

/** Why the engine's host network is not the one where our processes listen; undefined when it is. */
export async function hostNetworkObstacle(url: EngineUrl): Promise<string | undefined> {
  const engine = await openEngine(url);
  const info = (await engine.info()) as { OperatingSystem?: string; SecurityOptions?: readonly string[] };
  const isRootless = info.SecurityOptions?.some((option) => option.includes('rootless')) === true;
  if (process.platform === 'linux' && !isRootless && info.OperatingSystem !== 'Docker Desktop') return undefined;
  return 'needs the host network; that of this engine is another one (it runs in a virtual machine or rootless)';
}
