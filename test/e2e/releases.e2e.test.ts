/*
 * Goal: scripts/check-previous-release.mjs lets a schema pass that two releases can share, and stops one that they cannot.
 * Method: a clone of this repository that records its HEAD as a release, and one more migration; the tests of one service suffice.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';

const LIMIT_MS = 120_000;
const committer = {
  GIT_AUTHOR_NAME: 'Release',
  GIT_AUTHOR_EMAIL: 'release@example.org',
  GIT_COMMITTER_NAME: 'Release',
  GIT_COMMITTER_EMAIL: 'release@example.org',
};
let folder: string;
let clone: string;
/** The commit that was cloned. */
let head: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-release-'));
  clone = join(folder, 'clone');
  await succeed('git', ['clone', '--quiet', '--no-hardlinks', '--no-tags', cloneRoot(), clone], folder);
  await symlink(join(cloneRoot(), 'node_modules'), join(clone, 'node_modules'));
  head = (await run('git', ['rev-parse', 'HEAD'], clone)).said.trim();
});
afterAll(() => rm(folder, { recursive: true, force: true }));
/** As it was cloned. */
afterEach(() => succeed('git', ['reset', '--quiet', '--hard', head], clone));

function run(command: string, args: readonly string[], cwd: string): Promise<{ code: number; said: string }> {
  return new Promise((resolve, reject) => {
    // A separate test run: it gets none of our variables.
    const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|GIT_|NODE_OPTIONS)/.test(name));
    const env = { ...Object.fromEntries(own), ...committer };
    execFile(command, [...args], { cwd, env, timeout: LIMIT_MS, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ code: Number(error?.code ?? 0), said: stdout + stderr });
    });
  });
}

async function succeed(command: string, args: readonly string[], cwd: string): Promise<void> {
  const { code, said } = await run(command, args, cwd);
  expect(code, `${command} ${args.join(' ')}: ${said}`).toBe(0);
}

/** The clone's HEAD as release 0.1.0, and since then one more migration of catalog. */
async function migratedSince(sql: string): Promise<void> {
  await record([{ version: '0.1.0', commit: head, date: '2026-11-22' }]);
  await writeFile(join(clone, 'migrations/catalog/0099_next.sql'), `${sql};\n`);
  await succeed('git', ['add', 'migrations'], clone);
  await succeed('git', ['commit', '--quiet', '-m', 'Migration'], clone);
}

const record = (releases: readonly object[]) => writeFile(join(clone, 'releases.json'), JSON.stringify(releases));

const script = 'scripts/check-previous-release.mjs';
const check = (...services: string[]) => run(process.execPath, [join(clone, script), ...services], clone);

it('refuses a service that has no database', async () => {
  expect(await check('gateway')).toMatchObject({ code: 2, said: expect.stringContaining('"gateway" has no database') });
});

it('fails where no release is recorded: there is nothing to compare with', async () => {
  await record([]);
  expect(await check()).toMatchObject({ code: 1, said: expect.stringContaining('releases.json records no release') });
});

it('fails where the commit of the release is not available', async () => {
  const commit = 'a'.repeat(40);
  await record([{ version: '0.1.0', commit, date: '2026-11-22' }]);
  const said = expect.stringContaining(`commit ${commit} of release 0.1.0 is neither in this clone nor at its origin`);
  expect(await check()).toMatchObject({ code: 1, said });
});

it(
  'lets a column pass that old code does not know and new code does not need',
  async () => {
    await migratedSince('ALTER TABLE products ADD COLUMN weight_g integer');
    const { code, said } = await check('catalog');
    expect(code, said).toBe(0);
    expect(said).toContain('0.1.0 and this commit can run side by side: catalog');
  },
  LIMIT_MS,
);

it(
  'stops a renamed column, which the released code still reads',
  async () => {
    await migratedSince('ALTER TABLE products RENAME COLUMN price_kopiykas TO price');
    const { code, said } = await check('catalog');
    expect(code).toBe(1);
    expect(said).toContain("the code of 0.1.0 on today's schema: its tests fail");
  },
  LIMIT_MS,
);
