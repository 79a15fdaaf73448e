import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { messageOf } from '../../errors.ts';
import { unless } from '../../shared/unless.ts';
import { parseRequirement, type Requirement } from '../schema/contract-migrations.ts';

export interface MigrationFile {
  /** `NNNN_what`, without the suffix: the name under which a database remembers it. */
  readonly name: string;
  readonly path: string;
  readonly digest: string;
  /** Of a contract migration. */
  readonly requires?: Requirement;
}

/**
 * The migrations of one database in order; the folder has its name, which is that of the service that owns it. A missing
 * folder is an empty one; a file with another name, or with a requirement that cannot be read, is an error.
 */
export async function readMigrations(folder: string): Promise<MigrationFile[]> {
  const names = ((await readdir(folder).catch(unless('ENOENT'))) ?? []).filter((name) => !name.startsWith('.')).sort();
  for (const name of names) {
    if (!/^\d{4}_[a-z0-9_-]+\.sql$/.test(name))
      throw new Error(`${join(folder, name)}: a migration is named NNNN_what.sql`);
  }
  return Promise.all(names.map((name) => describe(folder, name)));
}

async function describe(folder: string, name: string): Promise<MigrationFile> {
  const path = join(folder, name);
  const content = await readFile(path);
  const digest = createHash('sha256').update(content).digest('hex');
  const requires = requirementIn(path, content.toString(), basename(folder));
  return { name: name.slice(0, -'.sql'.length), path, digest, ...(requires && { requires }) };
}

function requirementIn(path: string, text: string, service: string): Requirement | undefined {
  try {
    return parseRequirement(text, service);
  } catch (cause) {
    throw new Error(`${path}: ${messageOf(cause)}`, { cause });
  }
}
