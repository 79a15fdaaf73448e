import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { sourcesOf } from '../../../cli/src/deploy/release-source.ts';

/** A text of a source file that is replaced; it occurs there once. */
export interface Edit {
  /** Relative to the clone. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** Throws Error where the sources have changed, so that the edit would do nothing, or something else. Pure. */
export function applyEdit(text: string, { file, find, replace }: Edit): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} has "${find}" ${parts.length - 1} times, not once`);
  return parts.join(replace);
}

/** A copy of the sources of a service with these edits, in a folder below `parent`, whose owner removes it. */
export async function copyEdited(
  service: string,
  { root, parent }: { readonly root: string; readonly parent: string },
  edits: readonly Edit[],
): Promise<string> {
  const copy = await mkdtemp(join(parent, 'sources-'));
  for (const path of sourcesOf(service)) {
    const filter = (source: string) => basename(source) !== 'node_modules';
    await cp(join(root, path), join(copy, path), { recursive: true, filter });
  }
  for (const edit of edits) {
    const file = join(copy, edit.file);
    await writeFile(file, applyEdit(await readFile(file, 'utf8'), edit));
  }
  return copy;
}
