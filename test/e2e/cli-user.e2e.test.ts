// Goal: the platform runs for an ordinary user.
// Method: a copy of this clone (its node_modules is linked), owned by a user made for it; `up`, one order, `down`.
import { execFile } from 'node:child_process';
import { chmod, cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { it } from 'vitest';
import { cloneRoot, openProject } from '../../cli/src/platform/project.ts';
import { usePlaces } from './support/places.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const { folder, cleanUp, copyClone, works } = usePlaces();

it.skipIf(!isRoot)(
  'works for an ordinary user (needs root, to make one)',
  async () => {
    const user = `shop-test-${process.pid}`;
    await run('useradd', ['--create-home', '--home-dir', join(folder(), 'home'), '--shell', '/bin/sh', user]);
    cleanUp(() => run('userdel', [user]));
    const [uid, gid] = await Promise.all(
      ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, user])).stdout)),
    );
    const root = await copyClone('home', 'clone');
    const cache = join(folder(), 'home', '.cache');
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
    await chmod(folder(), 0o755);
    await run('chown', ['-R', '--no-dereference', `${uid}:${gid}`, join(folder(), 'home')]);
    await works({
      root,
      uid: uid as number,
      gid: gid as number,
      env: { HOME: join(folder(), 'home'), USER: user, XDG_CACHE_HOME: cache, XDG_RUNTIME_DIR: '' },
    });
  },
  180_000,
);
