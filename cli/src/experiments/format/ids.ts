import { globSync } from 'node:fs';
import { basename } from 'node:path';

/** Ids of the catalog, by the names of its files; sorted. */
export function experimentIds(root: string): readonly string[] {
  const files = globSync('chaos/**/*.{yaml,yml}', { cwd: root });
  return files.map((file) => basename(file).split('-')[0] ?? file).toSorted();
}
