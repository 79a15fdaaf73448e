import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FAILPOINT_NAME } from '@shop/kit/failpoint-names.ts';

/** A quoted text that looks like the name of a failpoint is one. */
const QUOTED = new RegExp(`'(${FAILPOINT_NAME})'`, 'g');

/** Where each failpoint of a service is in its sources: `services/orders/src/relay.ts:65` by name. Empty without sources. */
export async function locateFailpoints(root: string, service: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = `services/${service}/src`;
  const found = new Map<string, string[]>();
  if (!existsSync(join(root, folder))) return found;
  const files = await readdir(join(root, folder), { recursive: true });
  for (const file of files.filter((name) => name.endsWith('.ts') && !isForTests(name)).sort()) {
    const lines = (await readFile(join(root, folder, file), 'utf8')).split('\n');
    for (const [index, line] of lines.entries()) {
      for (const [, name = ''] of line.matchAll(QUOTED)) {
        found.set(name, [...(found.get(name) ?? []), `${folder}/${file}:${index + 1}`]);
      }
    }
  }
  return found;
}

function isForTests(file: string): boolean {
  return file.endsWith('.test.ts') || file.startsWith('testing/');
}
