import { join } from 'node:path';
import { runProgram } from '../process/run-program.ts';
import { checkCached } from './cached-program.ts';
import type { Availability, ComponentContext } from './component.ts';
import { findOnPath } from './executables.ts';
import { buildGoProgram } from './go-build.ts';
import { k6ImageSource } from './k6-image.ts';
import { available, installable, unavailable } from './provider-checks.ts';
import { releaseSource } from './release/release-source.ts';
import { k6Release } from './release/releases.ts';
import type { ToolSource } from './tool.ts';

/** Version that is downloaded or built; an installed one may be another of the same major version. */
const K6_VERSION = k6Release.version;
/** The first that runs TypeScript and has the options the scenarios are run with. */
const MIN_MAJOR = 2;
const VERSION_LIMIT_MS = 3_000;

/** Ways to have k6, in the order in which they are tried. */
export function k6Ways(context: Pick<ComponentContext, 'cacheDir' | 'env'>): readonly ToolSource[] {
  return [
    systemSource(context),
    cacheSource(context),
    imageSource(context),
    downloadSource(context),
    goBuildSource(context),
  ];
}

function systemSource({ env }: Pick<ComponentContext, 'env'>): ToolSource {
  return {
    kind: 'installed',
    async check() {
      const file = await findOnPath('k6', env);
      if (file === undefined) return unavailable('installed', 'no "k6" on PATH');
      const version = await versionOf(file, env);
      const major = majorOf(version);
      if (major === undefined) return unavailable('installed', `${file} does not say its version: ${version.trim()}`);
      if (major < MIN_MAJOR) return unavailable('installed', `${file} is k6 ${major}, and ${MIN_MAJOR} is needed`);
      return available('installed', file);
    },
    async file() {
      const file = await findOnPath('k6', env);
      if (file === undefined) throw new Error('no "k6" on PATH');
      return file;
    },
  };
}

function cacheSource(context: Pick<ComponentContext, 'cacheDir'>): ToolSource {
  // One out of an image was not compared with a pinned checksum: it does not pass for one that was.
  const files = [cachedFile(context), cachedImageFile(context)];
  return {
    kind: 'cache',
    async check() {
      const checks = await Promise.all(files.map(checkCached));
      return checks.find((one) => one.available) ?? (checks[0] as Availability);
    },
    async file() {
      for (const file of files) if ((await checkCached(file)).available) return file;
      return files[0] as string;
    },
  };
}

/** Once copied out of its image, k6 is found in the cache. */
function imageSource(context: Pick<ComponentContext, 'cacheDir' | 'env'>): ToolSource {
  const file = cachedImageFile(context);
  return { ...k6ImageSource(file, context), file: async () => file };
}

/** Once downloaded, k6 is found in the cache. */
function downloadSource(context: Pick<ComponentContext, 'cacheDir' | 'env'>): ToolSource {
  const file = cachedFile(context);
  return { ...releaseSource(k6Release, file, context), file: async () => file };
}

/** Once built, k6 is found in the cache: this way itself only ever installs. */
function goBuildSource(context: Pick<ComponentContext, 'cacheDir' | 'env'>): ToolSource {
  const file = cachedFile(context);
  const program = { title: 'k6', modulePath: 'go.k6.io/k6/v2', mainPackage: '.', version: K6_VERSION, target: file };
  return {
    kind: 'go',
    async check() {
      const go = await findOnPath('go', context.env);
      if (go !== undefined) return installable('go', `can be built with ${go} (about three minutes on two cores)`);
      return unavailable('go', 'no "go" on PATH; install Go from go.dev, or put "k6" (2 or newer) on PATH');
    },
    file: async () => file,
    install: (onProgress, signal) => buildGoProgram(program, context, onProgress, signal),
  };
}

function cachedFile({ cacheDir }: Pick<ComponentContext, 'cacheDir'>): string {
  return join(cacheDir, `k6-${K6_VERSION}`, 'k6');
}

function cachedImageFile({ cacheDir }: Pick<ComponentContext, 'cacheDir'>): string {
  return join(cacheDir, `k6-${K6_VERSION}-image`, 'k6');
}

async function versionOf(file: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await runProgram(file, ['version'], { env, timeoutMs: VERSION_LIMIT_MS });
  return stdout;
}

/** From `k6 v2.2.0 (commit/devel, go1.26.8, linux/amd64)`. */
export function majorOf(version: string): number | undefined {
  const match = /^k6(?:\.exe)? v(\d+)\./.exec(version);
  return match ? Number(match[1]) : undefined;
}
