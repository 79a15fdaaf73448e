// Goal: Ctrl-C and kill -9 during `npm test` leave no process and no file.
// Method: `npm test` as a terminal runs it, in a separate group, with a separate folder for temporary files. The group
// gets the signal while servers of integration tests, or a platform, are there.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { openShell, type Shell } from './support/cli-run.ts';

let folder: string;
let shell: Shell;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-interrupted-'));
  shell = await openShell({ home: folder });
});
afterEach(async () => {
  // Its files go also where processes are left, which fails the test.
  await nothingLeft().finally(() => rm(folder, { recursive: true, force: true }));
});

const LIMIT_MS = 120_000;

const nothingLeft = () => expect.poll(() => shell.processes(), { timeout: LIMIT_MS, interval: 100 }).toEqual([]);
/** All but the cache of compiled code that Node keeps there for each run of npm and Vitest. */
const filesLeft = async () => (await readdir(folder)).filter((name) => name !== 'node-compile-cache');

it.runIf(process.platform === 'linux').each([
  [
    'Ctrl-C',
    'servers of integration tests run',
    'SIGINT',
    'test/support/infrastructure.integration.test.ts',
    /beam\.smp/,
  ],
  ['Ctrl-C', 'a platform starts', 'SIGINT', 'test/e2e/contracts.e2e.test.ts', /bin\/postgres -D/],
  ['kill -9', 'a command starts a platform', 'SIGKILL', 'test/e2e/cli-platform.e2e.test.ts', /bin\/postgres -D/],
] as const)(
  '%s while %s leaves no process and no file',
  async (_name, _when, sent, file, moment) => {
    const env = { ...shell.env, TMPDIR: folder };
    const run = spawn('npm', ['test', '--', file], { cwd: cloneRoot(), env, detached: true, stdio: 'ignore' });
    const ended = once(run, 'exit');
    let databases: readonly string[] = [];
    try {
      await expect
        .poll(() => shell.processes().some((one) => moment.test(one)), { timeout: LIMIT_MS, interval: 50 })
        .toBe(true);
      // As root PostgreSQL has its files elsewhere.
      databases = shell.processes().flatMap((one) => /\/var\/tmp\/shopctl-[0-9a-f]+/.exec(one) ?? []);
    } finally {
      if (run.exitCode === null) process.kill(-(run.pid as number), sent);
    }
    const [code, signal] = await ended;
    // npm ends itself by the signal that ended its script, or with its code.
    expect([130, sent]).toContain(signal ?? code);
    await nothingLeft();
    await expect.poll(filesLeft, { timeout: LIMIT_MS, interval: 100 }).toEqual([]);
    expect(databases.filter((path) => existsSync(path))).toEqual([]);
  },
  3 * LIMIT_MS,
);
