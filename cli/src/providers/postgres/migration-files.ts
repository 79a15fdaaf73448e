import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface MigrationFile {
  /** `NNNN_what`, without the suffix: the name under which a database remembers it. */
  readonly name: string;
  readonly path: string;
  readonly digest: string;
}

/** The migrations of one database in order. A missing folder is an empty one; a file with another name is an error. */
export async function readMigrations(folder: string): Promise<MigrationFile[]> {
  const names = (await readdir(folder).catch(none)).filter((name) => !name.startsWith('.')).sort();
  for (const name of names) {
    if (!/^\d{4}_[a-z0-9_-]+\.sql$/.test(name))
      throw new Error(`${join(folder, name)}: a migration is named NNNN_what.sql`);
  }
  return Promise.all(names.map((name) => describe(folder, name)));
}

async function describe(folder: string, name: string): Promise<MigrationFile> {
  const path = join(folder, name);
  const digest = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  return { name: name.slice(0, -'.sql'.length), path, digest };
}

function none(error: NodeJS.ErrnoException): string[] {
  if (error.code !== 'ENOENT') throw error;
  return [];
}
