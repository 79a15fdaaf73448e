import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Calls that pass a failpoint, and the saga's table of boundaries; a name in quotes on such a line is one. */
const PASSES = /\b(?:failpoint|reached)\(|\b(?:answered|saved): '/;
const NAME = /'([A-Z]\d+)'/g;

/** Where each failpoint of a service is in its sources: `services/orders/src/relay.ts:65` by name. Empty without sources. */
export async function locateFailpoints(root: string, service: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = `services/${service}/src`;
  const found = new Map<string, string[]>();
  if (!existsSync(join(root, folder))) return found;
  const files = await readdir(join(root, folder), { recursive: true });
  for (const file of files.filter((name) => name.endsWith('.ts') && !isForTests(name)).sort()) {
    const lines = (await readFile(join(root, folder, file), 'utf8')).split('\n');
    for (const [index, line] of lines.entries()) {
      for (const name of namesIn(line)) {
        found.set(name, [...(found.get(name) ?? []), `${folder}/${file}:${index + 1}`]);
      }
    }
  }
  return found;
}

function isForTests(file: string): boolean {
  return file.endsWith('.test.ts') || file.startsWith('testing/');
}

function namesIn(line: string): readonly string[] {
  return PASSES.test(line) ? [...line.matchAll(NAME)].map(([, name]) => name as string) : [];
}
