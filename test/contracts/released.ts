import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of committed contracts. */
export const contractsDir = join(import.meta.dirname, '../../contracts');

const releasedDir = join(contractsDir, 'released');

/** Versions whose contracts were kept, oldest first. */
function releasedVersions(folder = releasedDir): readonly string[] {
  const parts = (version: string) => version.split('.').map(Number) as [number, number, number];
  return readdirSync(folder)
    .filter((name) => /^\d+\.\d+\.\d+$/.test(name))
    .sort((a, b) => {
      const [left, right] = [parts(a), parts(b)];
      return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
    });
}

/** Folder of the last release, against which changes are checked. Throws when nothing was released. */
export function lastRelease(): string {
  const version = releasedVersions().at(-1);
  if (version === undefined) throw new Error(`${releasedDir} has no release; "npm run contracts:release" makes one`);
  return join(releasedDir, version);
}

/** Files of a kind in the last release, without their extension. */
export function releasedFiles(kind: 'openapi' | 'events'): readonly string[] {
  const folder = join(lastRelease(), kind);
  if (!existsSync(folder)) throw new Error(`${folder} is missing`);
  return readdirSync(folder).map((name) => name.replace(/\.json$/, ''));
}
