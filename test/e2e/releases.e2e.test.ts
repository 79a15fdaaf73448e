/*
 * Goal: scripts/check-previous-release.mjs lets a schema pass that two releases can share, and stops one that they cannot.
 * Method: a clone of this repository with a release tag and one more migration; the tests of one service suffice.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';

const LIMIT_MS = 120_000;
let folder: string;
let clone: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-release-'));
  clone = join(folder, 'clone');
  await run('git', ['clone', '--quiet', '--no-hardlinks', cloneRoot(), clone], folder);
  await run('git', ['config', 'user.email', 'release@example.org'], clone);
  await run('git', ['config', 'user.name', 'Release'], clone);
  await symlink(join(cloneRoot(), 'node_modules'), join(clone, 'node_modules'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function run(command: string, args: readonly string[], cwd: string): Promise<{ code: number; said: string }> {
  return new Promise((resolve, reject) => {
    // A test run of its own: it is told nothing of ours.
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(VITEST|GIT_|NODE_OPTIONS)/.test(name)),
    );
    execFile(command, [...args], { cwd, env, timeout: LIMIT_MS, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ code: Number(error?.code ?? 0), said: stdout + stderr });
    });
  });
}

/** A release v0.1.0, and since then one more migration of catalog. */
async function migratedSince(sql: string): Promise<void> {
  await run('git', ['tag', 'v0.1.0'], clone);
  await writeFile(join(clone, 'migrations/catalog/0099_next.sql'), `${sql};\n`);
  await run('git', ['add', 'migrations'], clone);
  const { code, said } = await run('git', ['commit', '--quiet', '-m', 'Migration'], clone);
  expect(code, said).toBe(0);
}

const check = (...services: string[]) =>
  run(process.execPath, [join(clone, 'scripts/check-previous-release.mjs'), ...services], clone);

it('says so where no release has a tag, and refuses a service that has no database', async () => {
  const none = await check();
  expect(none).toMatchObject({ code: 0, said: expect.stringContaining('no release tag') });
  expect(await check('gateway')).toMatchObject({ code: 2, said: expect.stringContaining('"gateway" has no database') });
});

it(
  'lets a column pass that old code does not know and new code does not need',
  async () => {
    await migratedSince('ALTER TABLE products ADD COLUMN weight_g integer');
    const { code, said } = await check('catalog');
    expect(code, said).toBe(0);
    expect(said).toContain('v0.1.0 and this commit can run side by side: catalog');
  },
  LIMIT_MS,
);

it(
  'stops a renamed column, which the released code still reads',
  async () => {
    await migratedSince('ALTER TABLE products RENAME COLUMN price_kopiykas TO price');
    const { code, said } = await check('catalog');
    expect(code).toBe(1);
    expect(said).toContain("the code of v0.1.0 on today's schema: its tests fail");
  },
  LIMIT_MS,
);
