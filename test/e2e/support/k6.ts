import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Availability } from '../../../cli/src/providers/component.ts';
import { download } from '../../../cli/src/providers/release/download.ts';
import { releaseHost } from '../../../cli/src/providers/release/release-host.ts';
import { k6Release } from '../../../cli/src/providers/release/releases.ts';

/**
 * True when k6 is here or will be once it is set up. A way says that it can install; whether a release can be downloaded
 * is known only to who asks its host, which is done where there is no other way.
 */
export async function isK6Available(ways: readonly Availability[], env: NodeJS.ProcessEnv): Promise<boolean> {
  if (ways.some(({ kind, available, installable }) => available || (installable && kind !== 'release'))) return true;
  return ways.some(({ kind, installable }) => kind === 'release' && installable) && (await hasRelease(env));
}

async function hasRelease(env: NodeJS.ProcessEnv): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-k6-release-'));
  try {
    const url = new URL(`${k6Release.folder}k6-${k6Release.version}-checksums.txt`, releaseHost(env));
    await download({ url, target: join(folder, 'checksums'), maxBytes: 1 << 20, env });
    return true;
  } catch (error) {
    console.warn(`no release of k6 here: ${String(error)}`);
    return false;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
