import { join } from 'node:path';
import { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { complaintOf, runProgram } from '../process/run-program.ts';
import type { Availability, ComponentContext, OnProgress } from './component.ts';
import { engineUrl, openEngine, pingEngine, unlessStatus } from './docker/engine.ts';
import { pullImage } from './docker/pull.ts';
import { findOnPath, requireOnPath } from './executables.ts';
import { installProgram } from './install-program.ts';
import { installable, unavailable } from './provider-checks.ts';
import { k6Release } from './release/releases.ts';
import type { ToolSource } from './tool.ts';

/** Its tags are versions without a "v". Source: hub.docker.com/r/grafana/k6. */
const k6Image = `grafana/k6:${k6Release.version.slice(1)}`;
/** Where the image has it. Source: Dockerfile of k6. */
const PROGRAM = '/usr/bin/k6';
/** Made, copied from and removed, never started. */
const CONTAINER = 'shopctl-k6-program';

type Context = Pick<ComponentContext, 'cacheDir' | 'env'>;

/**
 * Takes k6 out of its image and into the cache, for Linux. It is a program without libraries, which runs here as well
 * as in a container, and is a child process as any other k6. This source only ever installs.
 */
export function k6ImageSource(
  target: string,
  context: Context,
  platform: string = process.platform,
): Required<Pick<ToolSource, 'kind' | 'check' | 'install'>> {
  return {
    kind: 'docker',
    check: () => check(context, platform),
    install: (onProgress, signal) => install(target, context, onProgress, signal),
  };
}

async function check({ env }: Context, platform: string): Promise<Availability> {
  if (platform !== 'linux') return unavailable('docker', `the program in ${k6Image} runs on Linux alone`);
  if ((await findOnPath('tar', env)) === undefined) return unavailable('docker', 'no "tar" on PATH');
  try {
    await pingEngine(engineUrl(env));
  } catch (error) {
    return unavailable('docker', (error as Error).message);
  }
  return installable('docker', `can be copied out of the image ${k6Image}, which is pulled when it is not here`);
}

async function install(
  target: string,
  { cacheDir, env }: Context,
  onProgress: OnProgress,
  signal?: AbortSignal,
): Promise<void> {
  const engine = await openEngine(engineUrl(env));
  if ((await engine.getImage(k6Image).inspect().catch(unlessStatus(404))) === undefined)
    await pullImage(engine, k6Image, onProgress);
  signal?.throwIfAborted();
  onProgress(`copying k6 out of ${k6Image}`);
  await installProgram({ target, draft: join(cacheDir, 'image-k6') }, async (draft) => {
    await copyOut(engine, draft, env, signal);
    return join(draft, 'k6');
  });
}

/** Files can be read of containers, not of images: one is made for that, and removed. */
async function copyOut(engine: Docker, folder: string, env: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<void> {
  // A killed copy has left its container.
  await engine.getContainer(CONTAINER).remove().catch(unlessStatus(404));
  const container = await engine.createContainer({ name: CONTAINER, Image: k6Image });
  try {
    await untar(await container.getArchive({ path: PROGRAM }), folder, env, signal);
  } finally {
    await container.remove();
  }
}

async function untar(
  archive: NodeJS.ReadableStream,
  folder: string,
  env: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<void> {
  const tar = await requireOnPath('tar', env, 'k6: unpacking it needs tar');
  await runProgram(tar, ['-xf', '-', '-C', folder], { env, signal, input: Readable.from(archive) }).catch((cause) => {
    signal?.throwIfAborted();
    throw new Error(`k6 could not be copied out of ${k6Image}: ${complaintOf(cause).slice(-1_000)}`, { cause });
  });
}
