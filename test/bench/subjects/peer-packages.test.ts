import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
}

async function read<T>(name: string): Promise<T> {
  return JSON.parse(await readFile(join(import.meta.dirname, 'peers', name), 'utf8')) as T;
}

it('the peers are locked in the versions that are measured, each package by its checksum', async () => {
  const { dependencies } = await read<{ dependencies: Record<string, string> }>('package.json');
  const { packages } = await read<{ packages: Record<string, Locked> }>('package-lock.json');
  for (const [name, version] of Object.entries(dependencies)) {
    expect(packages[`node_modules/${name}`]?.version).toBe(version);
  }
  const { '': _, ...all } = packages;
  // Without addresses: each user has another registry or mirror.
  expect(
    Object.values(all).filter(({ integrity, resolved }) => integrity === undefined || resolved !== undefined),
  ).toEqual([]);
});
