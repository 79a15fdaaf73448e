import { dirname, join } from 'node:path';
import { checkCached } from './cached-program.ts';
import type { ComponentContext } from './component.ts';
import { findOnPath } from './executables.ts';
import { buildGoProgram } from './go-build.ts';
import { packagedSource, unpackedFile } from './packaged-program.ts';
import { cachedFile } from './program-providers.ts';
import { prometheusPackage, prometheusProgram } from './prometheus/sources.ts';
import { versionObstacle } from './prometheus/version.ts';
import { available, installable, unavailable } from './provider-checks.ts';
import { releaseSource } from './release/release-source.ts';
import { prometheusRelease } from './release/releases.ts';
import type { ToolSource } from './tool.ts';

type Context = Pick<ComponentContext, 'cacheDir' | 'env'>;

/** Ways to have promtool, in the order in which they are tried: it comes with Prometheus, and the other way round. */
export function promtoolWays(context: Context): readonly ToolSource[] {
  const prometheus = cachedFile(prometheusProgram, context);
  const file = join(dirname(prometheus), 'promtool');
  const packaged = { ...prometheusPackage, program: 'usr/bin/promtool' };
  return [
    installedSource(context),
    { kind: 'cache', check: () => checkCached(file), file: async () => file },
    { ...releaseSource(prometheusRelease, prometheus, context), file: async () => file },
    { ...packagedSource(packaged, context), file: async () => unpackedFile(packaged, context) },
    goSource(prometheus, file, context),
  ];
}

function installedSource({ env }: Context): ToolSource {
  return {
    kind: 'installed',
    async check() {
      const file = await findOnPath('promtool', env);
      if (file === undefined) return unavailable('installed', 'no "promtool" on PATH');
      const obstacle = await versionObstacle(file, env);
      return obstacle === undefined ? available('installed', file) : unavailable('installed', obstacle);
    },
    async file() {
      const file = await findOnPath('promtool', env);
      if (file === undefined) throw new Error('no "promtool" on PATH');
      return file;
    },
  };
}

/** Once built, it is found in the cache: this way itself only ever installs. */
function goSource(prometheus: string, file: string, context: Context): ToolSource {
  return {
    kind: 'go',
    async check() {
      const go = await findOnPath('go', context.env);
      if (go === undefined) return unavailable('go', 'no "go" on PATH; install Go from go.dev');
      return installable('go', `can be built with ${go}, with Prometheus (${prometheusProgram.buildTime})`);
    },
    file: async () => file,
    install: (onProgress, signal) =>
      buildGoProgram({ title: 'Prometheus', ...prometheusProgram.go, target: prometheus }, context, onProgress, signal),
  };
}
