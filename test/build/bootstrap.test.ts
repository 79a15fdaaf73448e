// Goal: a newcomer's first command installs no packages that only tests or an option need; the others add what they need. All tests run
// in three parts, and none of them hides that another has failed.
// Method: the script with an npm that says how it was called, and fails; with a Vitest that writes down how it was called.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-bootstrap-'));
  await mkdir(join(folder, 'scripts'));
  for (const name of ['bootstrap.mjs', 'early-toxiproxy.mjs'])
    await copyFile(join(cloneRoot(), 'scripts', name), join(folder, 'scripts', name));
  await writeFile(join(folder, 'npm.js'), 'console.log(JSON.stringify(process.argv.slice(2)));\nprocess.exit(7);\n');
  await write('package-lock.json');
});
afterEach(() => rm(folder, { recursive: true }));

async function write(...files: readonly string[]): Promise<void> {
  for (const file of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), '');
  }
}
const platformPackages = ['node_modules/node/bin/node', 'node_modules/.package-lock.json'];
const testPackages = ['node_modules/vitest/vitest.mjs'];

/** The arguments of the npm that a task called. */
async function npmOf(task: string): Promise<readonly string[]> {
  const { code, stdout, stderr } = await new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    // With a Toxiproxy none is built.
    const env = { ...process.env, npm_execpath: join(folder, 'npm.js'), SHOPCTL_TOXIPROXY_URL: 'http://127.0.0.1:1' };
    execFile(process.execPath, ['scripts/bootstrap.mjs', task], { cwd: folder, env }, (error, out, said) =>
      resolve({ code: error?.code, stdout: out, stderr: said }),
    );
  });
  expect(code).toBe(7);
  // Words of a failure, which a first run that succeeds has none of.
  expect(stderr).toContain('Installing the dependencies');
  expect(stderr).not.toMatch(/failed|error|not installed/i);
  return JSON.parse(stdout) as string[];
}

it('npm start installs every workspace but instrumentation/, without what tests need', async () => {
  const args = await npmOf('start');
  expect(args.slice(0, 1)).toEqual(['ci']);
  expect(args).toEqual(expect.arrayContaining(['--include-workspace-root', '--omit=dev']));
  const named = args.filter((_, index) => args[index - 1] === '--workspace');
  const { workspaces } = JSON.parse(await readFile(join(cloneRoot(), 'package.json'), 'utf8')) as {
    workspaces: string[];
  };
  const all = workspaces.map((pattern) => pattern.replace('/*', ''));
  expect(named.toSorted()).toEqual(all.filter((name) => name !== 'instrumentation').toSorted());
});

it.each(['test', 'test:all'])('npm run %s installs what tests need', async (task) => {
  const args = await npmOf(task);
  expect(args.slice(0, 1)).toEqual(['ci']);
  expect(args).not.toContain('--omit=dev');
});

it('npm test after npm start adds to what is installed, and neither removes it nor writes the lock', async () => {
  await write(...platformPackages);
  const args = await npmOf('test');
  expect(args.slice(0, 1)).toEqual(['install']);
  expect(args).toEqual(expect.arrayContaining(['--no-save', '--include-workspace-root']));
  expect(args).not.toContain('--omit=dev');
});

it('npm start after the lock has changed keeps what tests need', async () => {
  await write(...platformPackages, ...testPackages);
  const later = new Date(Date.now() + 60_000);
  await utimes(join(folder, 'package-lock.json'), later, later);
  const args = await npmOf('start');
  expect(args.slice(0, 1)).toEqual(['ci']);
  expect(args).not.toContain('--omit=dev');
});

describe('npm run test:all', () => {
  /** Of the parts that run together each waits for the other, so that a part that runs alone fails. */
  const VITEST = `
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { getPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
const { TEST_REPORT, TEST_REPORTS, TEST_TIER, FAILING } = process.env;
const part = basename(TEST_REPORT, '.json');
const projects = process.argv.slice(3).filter((arg) => arg !== '--project');
appendFileSync('calls', JSON.stringify({ part, tier: TEST_TIER, projects, priority: getPriority(), reports: TEST_REPORTS }) + '\\n');
writeFileSync(TEST_REPORT, '');
const other = { alone: 'background', background: 'alone' }[part];
const until = Date.now() + 10_000;
while (other && !existsSync(TEST_REPORT.replace(part, other)) && Date.now() < until) await delay(20);
console.log(part + ' has run');
process.exit(other && !existsSync(TEST_REPORT.replace(part, other)) ? 9 : part === FAILING ? 3 : 0);
`;
  beforeEach(async () => {
    await write(...platformPackages, ...testPackages, 'cli/bin/none', 'reports/none');
    await writeFile(join(folder, 'cli/bin/shopctl'), '#!/bin/sh\n', { mode: 0o755 });
    await writeFile(join(folder, 'scripts/build.mjs'), 'export const buildIfStale = async () => ({ built: [] });\n');
    await writeFile(join(folder, testPackages[0] as string), VITEST);
    await rm(join(folder, 'node_modules/node/bin/node'));
    await symlink(process.execPath, join(folder, 'node_modules/node/bin/node'));
  });

  async function testAll(failing = ''): Promise<{ code: unknown; stdout: string; calls: readonly unknown[] }> {
    const env = { ...process.env, TEST_REPORTS: join(folder, 'reports'), FAILING: failing };
    const { code, stdout } = await new Promise<{ code: unknown; stdout: string }>((resolve) => {
      execFile(process.execPath, ['scripts/bootstrap.mjs', 'test:all'], { cwd: folder, env }, (error, out) =>
        resolve({ code: error?.code ?? 0, stdout: out }),
      );
    });
    const calls = (await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n');
    return { code, stdout, calls: calls.map((line): unknown => JSON.parse(line)) };
  }

  it('runs most of them, then those that run alone and, at low priority beside these, those in the background', async () => {
    const { code, stdout, calls } = await testAll();
    expect(code).toBe(0);
    const [tier, priority] = ['all', getPriority()];
    expect(calls[0]).toEqual({ part: 'most', tier, projects: ['units', 'units-isolated', 'e2e'], priority });
    expect(calls).toHaveLength(3);
    expect(calls).toContainEqual({ part: 'alone', tier, projects: ['e2e-alone'], priority });
    expect(calls).toContainEqual({ part: 'background', tier, projects: ['units-background'], priority: 19 });
    expect(stdout).toMatch(/most has run.*alone has run.*background has run/s);
  });

  it.each(['most', 'alone', 'background'])('fails where "%s" fails, and runs the others', async (part) => {
    expect(await testAll(part)).toMatchObject({ code: 3, calls: { length: 3 } });
  });
});
