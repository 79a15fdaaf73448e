// Goal: a cluster outside the state directory is used by the project that made it only.
// Method: folders of a temporary directory stand for /var/tmp and for the state directory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimPlace } from './place.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'place-'));
});
afterEach(() => rm(folder, { recursive: true }));

const stateDir = () => join(folder, 'clone/.shop/shop');
const base = () => join(folder, 'outside');
const cluster = () => join(base(), 'data/PG_VERSION');

const claim = () =>
  claimPlace({
    base: base(),
    dataDir: join(base(), 'data'),
    claimFile: join(stateDir(), 'data/postgres-claim'),
    runAs: { name: 'postgres', uid: 1, gid: 1 },
  });

async function makeCluster(): Promise<void> {
  await mkdir(join(base(), 'data'), { recursive: true });
  await writeFile(cluster(), '15\n');
}

it('a cluster stays while its state directory does', async () => {
  await mkdir(base());
  await claim();
  await makeCluster();
  await claim();
  expect(existsSync(cluster())).toBe(true);
});

it('a cluster goes when its clone was deleted and cloned again, since its passwords are lost', async () => {
  await mkdir(base());
  await claim();
  await makeCluster();
  await rm(stateDir(), { recursive: true });
  await claim();
  expect(existsSync(cluster())).toBe(false);
  await makeCluster();
  await claim();
  expect(existsSync(cluster()), 'the new one stays').toBe(true);
});

it('a cluster without a claim, of an earlier version, is taken over', async () => {
  await makeCluster();
  await claim();
  await claim();
  expect(existsSync(cluster())).toBe(true);
});

it('a cluster that a server of the deleted clone still uses is left alone, and the error says which', async () => {
  await mkdir(base());
  await claim();
  await makeCluster();
  const server = spawn('/bin/sh', ['-c', 'read line', join(base(), 'data')]);
  await writeFile(join(base(), 'data/postmaster.pid'), `${server.pid}\n/data\n`);
  await rm(stateDir(), { recursive: true });
  try {
    await expect(claim()).rejects.toThrow(`PostgreSQL ${server.pid} of a clone that was deleted still runs there`);
  } finally {
    const over = once(server, 'exit');
    server.stdin.end();
    await over;
  }
  expect(existsSync(cluster())).toBe(true);
  await claim();
  expect(existsSync(cluster())).toBe(false);
});
