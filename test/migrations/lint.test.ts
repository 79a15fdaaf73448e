import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseRequirement } from '../../cli/src/providers/schema/contract-migrations.ts';
import { isOlder } from '../../cli/src/shared/version-order.ts';
import { lastRelease } from '../contracts/released.ts';
import { lintMigration, type Rule } from './lint.ts';

const migrationsDir = join(import.meta.dirname, '../../migrations');
const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));

/** Released constraints have run beside the release before them. */
const released = new Set(filesOf(join(lastRelease(), 'migrations')));

describe.each(filesOf(migrationsDir))('migrations/%s', (file) => {
  const service = dirname(file);
  const text = readFileSync(join(migrationsDir, file), 'utf8');

  it('is safe beside the code of the last release', async () => {
    const findings = await lintMigration(text, service);
    expect(findings.filter(({ rule }) => !(rule === 'narrow' && released.has(file)))).toEqual([]);
  });

  it('requires no release that is still to come: no start could apply it', () => {
    const { version } = JSON.parse(readFileSync(join(migrationsDir, '../services', service, 'package.json'), 'utf8'));
    const requires = parseRequirement(text, service);
    expect(requires !== undefined && isOlder(version, requires.atLeast)).toBe(false);
  });
});

it('migrations of the last release are as they were: they go forward only', () => {
  expect(released).not.toEqual(new Set());
  const read = (folder: string) => [...released].map((file) => [file, readFileSync(join(folder, file), 'utf8')]);
  expect(read(migrationsDir)).toEqual(read(join(lastRelease(), 'migrations')));
});

const rulesOf = async (text: string) => (await lintMigration(text, 'orders')).map(({ rule }) => rule);
const required = '-- requires: orders >= 0.4.0\n';

describe('a migration', () => {
  it.each([
    'ALTER TABLE orders ADD COLUMN note text',
    "ALTER TABLE orders ADD COLUMN channel text NOT NULL DEFAULT 'web'",
    'ALTER TABLE orders ADD COLUMN seen_at timestamptz NOT NULL DEFAULT now()',
    '-- allow narrow: no release writes others\nALTER TABLE orders ADD CONSTRAINT c CHECK (version > 0) NOT VALID',
    'ALTER TABLE orders VALIDATE CONSTRAINT positive',
    'ALTER TABLE orders ALTER COLUMN reason DROP NOT NULL',
    'CREATE INDEX CONCURRENTLY orders_customer ON orders (customer)',
    'CREATE TABLE notes (id uuid PRIMARY KEY, order_id uuid NOT NULL); CREATE INDEX notes_order ON notes (order_id)',
    'ALTER TABLE orders ADD CONSTRAINT key UNIQUE USING INDEX orders_key',
    "UPDATE products SET name = 'Mug' WHERE id = 4",
    `${required}ALTER TABLE orders DROP COLUMN note`,
    `${required}ALTER TABLE orders ALTER COLUMN reason SET NOT NULL`,
    `${required}ALTER TABLE orders ADD CONSTRAINT positive CHECK (total_kopiykas > 0) NOT VALID`,
    `${required}-- allow rename: no release reads it\nALTER TABLE orders RENAME COLUMN note TO remark`,
  ])('may: %s', async (text) => {
    expect(await rulesOf(text)).toEqual([]);
  });

  it.each<[string, Rule]>([
    ['ALTER TABLE orders DROP COLUMN reason', 'drop'],
    ['DROP TABLE outbox', 'drop'],
    ['TRUNCATE outbox', 'drop'],
    ['ALTER TABLE orders RENAME COLUMN reason TO cause', 'rename'],
    ['ALTER TABLE orders RENAME TO purchases', 'rename'],
    ['ALTER TABLE orders ALTER COLUMN version TYPE bigint', 'change-type'],
    ['ALTER TABLE orders ADD COLUMN channel text NOT NULL', 'not-null'],
    ['ALTER TABLE orders ALTER COLUMN reason SET NOT NULL', 'not-null'],
    ['ALTER TABLE orders ADD COLUMN tag uuid DEFAULT gen_random_uuid()', 'rewrite'],
    ['ALTER TABLE orders ADD COLUMN n bigint GENERATED ALWAYS AS IDENTITY', 'rewrite'],
    [`${required}ALTER TABLE orders ADD CONSTRAINT positive CHECK (total_kopiykas > 0)`, 'unvalidated'],
    ['ALTER TABLE orders ADD CONSTRAINT positive CHECK (total_kopiykas > 0) NOT VALID', 'narrow'],
    [`${required}ALTER TABLE orders RENAME COLUMN reason TO cause`, 'rename'],
    [`${required}ALTER TABLE orders ALTER COLUMN version TYPE bigint`, 'change-type'],
    [`${required}LOCK TABLE orders`, 'unknown'],
    ['ALTER TABLE orders ADD COLUMN parent uuid REFERENCES orders', 'unvalidated'],
    ['CREATE INDEX orders_customer ON orders (customer)', 'index'],
    ['ALTER TABLE orders ADD UNIQUE (customer)', 'index'],
    ['CREATE TRIGGER t AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION f()', 'trigger'],
    ['UPDATE orders SET attempts = 0', 'every-row'],
    ['DELETE FROM outbox', 'every-row'],
    ['LOCK TABLE orders', 'unknown'],
    ['-- allow rename: another rule\nALTER TABLE orders DROP COLUMN reason', 'drop'],
    ['-- allow drop: no release reads it\nALTER TABLE orders DROP COLUMN reason', 'drop'],
    ['-- allow narrow:\nALTER TABLE orders ADD CONSTRAINT c CHECK (version > 0) NOT VALID', 'narrow'],
  ])('may not: %s (%s)', { tags: ['deliberate-break'] }, async (text, rule) => {
    expect(await rulesOf(text)).toEqual([rule]);
  });

  it('is reported with all that is wrong with it, also behind letters of several bytes', async () => {
    const text =
      '-- Ціна\nALTER TABLE a DROP COLUMN x, ADD COLUMN y text NOT NULL; -- ї\n-- allow index: b is small\nCREATE INDEX b_x ON b (x);\nDROP TABLE c';
    expect(await rulesOf(text)).toEqual(['drop', 'not-null', 'drop']);
  });
});
