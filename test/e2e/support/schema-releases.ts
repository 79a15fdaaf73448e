/*
 * Four releases of orders that replace a column, as an expand-then-contract change does it (docs/contracts.md): the digest of a
 * keyed request moves from `request_hash` to `body_digest`. Each is the working tree with these edits.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface SchemaRelease {
  readonly version: string;
  /** What the insert names, and where its values come from. */
  readonly columns: string;
  readonly values: string;
  /** How the digest is read. */
  readonly digest: string;
  /** Migrations that come with the release, and stay. */
  readonly migrations: readonly (keyof typeof MIGRATIONS)[];
}

const BOTH = { columns: 'request_hash, body_digest', values: '$9, $9' } as const;
const NEW = { columns: 'body_digest', values: '$9' } as const;
const NEW_FIRST = 'coalesce(body_digest, request_hash)';

export const MIGRATIONS = {
  '0900_body_digest': 'ALTER TABLE orders ADD COLUMN body_digest text;',
  '0901_request_hash_optional': `
    ALTER TABLE orders DROP CONSTRAINT orders_key_with_hash;
    UPDATE orders SET body_digest = request_hash WHERE body_digest IS NULL AND request_hash IS NOT NULL;`,
  '0902_request_hash_removed': `
-- requires: orders >= 1.4.0
    ALTER TABLE orders DROP COLUMN request_hash;`,
} as const;

/** Expand: the new column is there and both are written. The old one counts. */
export const R1: SchemaRelease = {
  version: '1.1.0',
  ...BOTH,
  digest: 'coalesce(request_hash, body_digest)',
  migrations: ['0900_body_digest'],
};

/** The new one counts, and both are written. */
export const R2: SchemaRelease = { ...R1, version: '1.2.0', digest: NEW_FIRST };

/** The old one is not written any more, and filled in the new one where only the old one is; it is still read. */
export const R3: SchemaRelease = {
  version: '1.3.0',
  ...NEW,
  digest: NEW_FIRST,
  migrations: [...R2.migrations, '0901_request_hash_optional'],
};

/** The old one is not read any more. A separate migration removes it. */
export const R4: SchemaRelease = { ...R3, version: '1.4.0', digest: 'body_digest' };

/** Contract: what R4 does without is gone. */
export const R4_CONTRACTED: SchemaRelease = {
  ...R4,
  migrations: [...R4.migrations, '0902_request_hash_removed'],
};

const REPOSITORY = 'services/orders/src/repository.ts';
const MANIFEST = 'services/orders/package.json';

/** Makes a release of the tree in `copy`, which was `base` before it was edited the first time. */
export async function checkOut(release: SchemaRelease, copy: string, base: SourceBase): Promise<void> {
  const repository = edit(base.repository, [
    ['idempotency_key, request_hash)', `idempotency_key, ${release.columns})`],
    ['$7, $8, $9)', `$7, $8, ${release.values})`],
    ['currency, created_at, request_hash', `currency, created_at, ${release.digest} AS request_hash`],
  ]);
  await writeFile(join(copy, REPOSITORY), repository);
  await writeFile(join(copy, MANIFEST), JSON.stringify({ ...base.manifest, version: release.version }));
  const names = Object.keys(MIGRATIONS) as (keyof typeof MIGRATIONS)[];
  for (const name of names) {
    const file = join(copy, 'migrations/orders', `${name}.sql`);
    if (release.migrations.includes(name)) await writeFile(file, `${MIGRATIONS[name]}\n`);
    else await rm(file, { force: true });
  }
}

export interface SourceBase {
  readonly repository: string;
  readonly manifest: object;
}

export async function readBase(copy: string): Promise<SourceBase> {
  return {
    repository: await readFile(join(copy, REPOSITORY), 'utf8'),
    manifest: JSON.parse(await readFile(join(copy, MANIFEST), 'utf8')) as object,
  };
}

function edit(text: string, changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((edited, [from, to]) => {
    if (!edited.includes(from)) throw new Error(`${REPOSITORY} does not have "${from}"`);
    return edited.replace(from, () => to);
  }, text);
}
