import { readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';

/** What to do about an alert. */
export interface Runbook {
  /** Below the root of the clone, as the alert's annotation has it. */
  readonly path: string;
  /** Absolute; null where there is no such file. */
  readonly file: string | null;
  /** Its section "First look"; empty where it has none. */
  readonly firstLook: readonly string[];
}

const FOLDER = join('docs', 'runbooks');

/** The runbook that an alert names; undefined where it names none, or a file that is not one of the clone's. */
export async function findRunbook(root: string, path: string | undefined): Promise<Runbook | undefined> {
  if (path === undefined) return undefined;
  const file = resolve(root, path);
  // An alert is a message from outside: it chooses among runbooks, and reads no other file.
  const below = relative(join(root, FOLDER), file);
  if (below === '' || below.startsWith('..') || !file.endsWith('.md')) return undefined;
  try {
    return { path, file, firstLook: sectionOf(await readFile(file, 'utf8'), 'First look') };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { path, file: null, firstLook: [] };
    throw error;
  }
}

/** The lines below a heading, without fences and empty lines around them. Pure. */
function sectionOf(markdown: string, heading: string): readonly string[] {
  const lines = markdown.split('\n');
  const begin = lines.indexOf(`## ${heading}`);
  if (begin === -1) return [];
  const after = lines.slice(begin + 1);
  const end = after.findIndex((line) => line.startsWith('## '));
  const section = end === -1 ? after : after.slice(0, end);
  return section
    .filter((line) => !line.startsWith('```'))
    .join('\n')
    .trim()
    .split('\n');
}
