import { type ServiceName, serviceNames } from '../topology/services.ts';
import { bundles, targetsOf } from './bundles.ts';
import type { Project } from './project.ts';
import type { PlatformState } from './state.ts';

/** What a build needs of the command that asks for it. */
export interface BuildDeps {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly progress: { update(text: string): void; note(text: string): void };
}

/**
 * Builds what the instances of `service` are started from where its sources are newer, and says what else is older than its
 * sources. Does nothing for a component. Throws CliError where something does not compile.
 */
export async function buildService(
  service: string,
  project: Project,
  { runtime, failpoints = false }: Pick<PlatformState, 'runtime' | 'failpoints'>,
  deps: BuildDeps,
): Promise<void> {
  const { progress } = deps;
  const name = serviceNames.find((one) => one === service || service.startsWith(`${one}-`));
  if (name === undefined) return;
  if (runtime === 'docker') return buildServiceImages([name], { ...deps, root: project.root, failpoints });
  const own = bundles(project);
  await own.buildIfStale((line) => progress.note(line), { names: targetsOf(name) });
  const others = await own.stale();
  if (others.length > 0) {
    progress.note(
      `older than their sources, and not restarted: ${others.join(', ')} ("shopctl up" builds and restarts them)`,
    );
  }
}

/** Loaded only where services run as containers: the engine's client takes a tenth of a second. */
export async function buildServiceImages(
  names: readonly ServiceName[],
  { root, failpoints, env, signal, progress }: BuildDeps & { readonly root: string; readonly failpoints: boolean },
): Promise<void> {
  const { requireEngine } = await import('../images/service-engine.ts');
  const { buildImages } = await import('../images/build-images.ts');
  const { imageBuild } = await import('../images/images.ts');
  const { engine } = await requireEngine(env, 'running services as containers');
  await buildImages(names, { engine, root, build: imageBuild(failpoints), signal, progress });
}
