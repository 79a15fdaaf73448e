// Goal: the platform runs for an ordinary user, and from clones in awkward places.
// Method: a copy of this clone (its node_modules is linked), moved and owned as the case says; `up`, one order, `down`.
import { execFile } from 'node:child_process';
import { chmod, cp, lstat, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cloneRoot, openProject } from '../../cli/src/platform/project.ts';
import { openShell, type ShellOptions } from './support/cli-run.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const NOT_COPIED = new Set(['node_modules', '.git', '.shop', 'test', 'docs']);

let folder: string;
/** In reverse order, before the folder goes. */
const cleanUps: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-place-'));
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  await rm(folder, { recursive: true, force: true });
});

/** Copies this clone; files keep their times, so that nothing is built again. */
async function copyClone(...path: string[]): Promise<string> {
  const root = join(folder, ...path);
  await mkdir(root, { recursive: true });
  await cp(cloneRoot(), root, {
    recursive: true,
    preserveTimestamps: true,
    filter: (source) => !NOT_COPIED.has(basename(source)),
  });
  await symlink(join(cloneRoot(), 'node_modules'), join(root, 'node_modules'));
  return root;
}

/** `up`, one order, `down`; nothing may be left. */
async function works(options: ShellOptions): Promise<void> {
  const home = join(options.root as string, '.shop');
  const shell = await openShell({ ...options, home });
  cleanUps.push(() => shell.run('down', '--volumes'));
  const up = await shell.run('up', '--no-build');
  expect(up.code, up.stderr).toBe(0);
  const order = await shell.run('order', 'place', '--json');
  expect(order.code, order.stderr).toBe(0);
  expect(order.stdout).toContain('Confirmed');
  expect((await lstat(home)).mode & 0o777).toBe(0o700);
  const down = await shell.run('down');
  expect(down.code, down.stderr).toBe(0);
  expect(shell.processes()).toEqual([]);
  expect(shell.sockets('shop')).toEqual([]);
}

it('works in a folder whose path holds spaces', async () => {
  await works({ root: await copyClone('a folder', 'with spaces') });
}, 120_000);

it('works where the path is longer than a socket path may be (108 bytes)', async () => {
  await works({ root: await copyClone('x'.repeat(60), 'y'.repeat(60)) });
}, 120_000);

it.skipIf(!isRoot)(
  'works for root in a folder that only root may enter (needs root)',
  async () => {
    const root = await copyClone('private');
    await chmod(folder, 0o700);
    await works({ root });
  },
  120_000,
);

it.skipIf(!isRoot)(
  'works for an ordinary user (needs root, to make one)',
  async () => {
    const user = `shop-test-${process.pid}`;
    await run('useradd', ['--create-home', '--home-dir', join(folder, 'home'), '--shell', '/bin/sh', user]);
    cleanUps.push(() => run('userdel', [user]));
    const [uid, gid] = await Promise.all(
      ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, user])).stdout)),
    );
    const root = await copyClone('home', 'clone');
    const cache = join(folder, 'home', '.cache');
    // What `shopctl setup` has installed for the user who runs the tests, and only that: the folder may hold other
    // things, which that user alone may read.
    const installed = openProject('shop', cloneRoot(), process.env).cacheDir;
    for (const name of await readdir(installed)) {
      if (!/^(postgres|rabbitmq|toxiproxy)/.test(name)) continue;
      await cp(join(installed, name), join(cache, 'shopctl', name), {
        recursive: true,
        preserveTimestamps: true,
        verbatimSymlinks: true,
      });
    }
    await chmod(folder, 0o755);
    await run('chown', ['-R', '--no-dereference', `${uid}:${gid}`, join(folder, 'home')]);
    await works({
      root,
      uid: uid as number,
      gid: gid as number,
      env: { HOME: join(folder, 'home'), USER: user, XDG_CACHE_HOME: cache, XDG_RUNTIME_DIR: '' },
    });
  },
  180_000,
);
