import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';
import { failpointNames } from './failpoint-names.ts';

/** Names a service's sources mention: in calls of `failpoint`, and in the type of the saga's boundaries. */
async function namesInSources(service: string): Promise<readonly string[]> {
  const folder = join(cloneRoot(), 'services', service, 'src');
  const files = (await readdir(folder, { recursive: true })).filter((name) => /(?<!\.test)\.ts$/.test(name));
  const texts = await Promise.all(
    files.filter((name) => !name.includes('testing')).map((name) => readFile(join(folder, name), 'utf8')),
  );
  const text = texts.join('\n');
  const called = [...text.matchAll(/failpoint\('(\w+)'\)/g)].map(([, name]) => name as string);
  const boundaries = /type Boundary = ([^;]+);/.exec(text)?.[1] ?? '';
  return [...called, ...[...boundaries.matchAll(/'(\w+)'/g)].map(([, name]) => name as string)];
}

it.each(['orders', 'stock', 'payments', 'shipping'] as const)(
  'the failpoints of %s are those in its sources',
  async (service) => {
    expect([...failpointNames[service]].sort()).toEqual([...new Set(await namesInSources(service))].sort());
  },
);
