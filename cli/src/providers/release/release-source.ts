import type { ComponentContext, Provider } from '../component.ts';
import { findOnPath } from '../executables.ts';
import { installable, unavailable } from '../provider-checks.ts';
import { installRelease } from './install-release.ts';
import { type Release, releaseFileFor } from './release.ts';
import { releaseHost } from './release-host.ts';

/**
 * The project's own release, downloaded into the cache: this source only ever installs. Whether its host can be reached
 * is seen when it is tried, within seconds: a check sends no request.
 */
export function releaseSource(
  release: Release,
  target: string,
  context: Pick<ComponentContext, 'cacheDir' | 'env'>,
): Required<Pick<Provider, 'check' | 'install'>> & { readonly kind: 'release' } {
  return {
    kind: 'release',
    async check() {
      const file = releaseFileFor(release);
      if (file === undefined)
        return unavailable('release', `${release.title} is not released for ${process.platform} on ${process.arch}`);
      if ((await findOnPath('tar', context.env)) === undefined) return unavailable('release', 'no "tar" on PATH');
      const proof = file.sha256 === undefined ? `checked against ${release.checksumList}` : 'its checksum is pinned';
      return installable('release', `${file.name} can be downloaded from ${releaseHost(context.env).host} (${proof})`);
    },
    install: (onProgress, signal) => installRelease({ release, target, context, onProgress, signal }),
  };
}
