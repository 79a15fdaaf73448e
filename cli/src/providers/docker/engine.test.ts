import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dockerProvider } from '../docker.ts';
import { aContext } from '../testing.ts';
import { engineUrl } from './engine.ts';
import { endContainers, purgeContainers } from './leftovers.ts';
import { readRecord, recordEngine } from './record.ts';

/** What the check of a way may take on a machine without an engine, ms. */
const CHECK_LIMIT_MS = 300;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shopctl-engine-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('DOCKER_HOST', () => {
  it.each([
    ['unix:///run/user/1000/docker.sock', 'unix:///run/user/1000/docker.sock'],
    ['tcp://127.0.0.1:2375', 'tcp://127.0.0.1:2375'],
    ['tcp://localhost:2375', 'tcp://localhost:2375'],
  ])('%s is an engine of this machine', (host, url) => {
    expect(engineUrl({ DOCKER_HOST: host })).toBe(url);
  });

  it.each([
    'ssh://me:hidden@far',
    'tcp://10.0.0.7:2375',
    'tcp://127.0.0.1:2376',
    'tcp://127.0.0.1',
    'unix://',
    'nonsense',
  ])('%s is none whose ports are ours', (host) => {
    expect(() => engineUrl({ DOCKER_HOST: host })).toThrow(/cannot publish ports on this loopback/);
    expect(() => engineUrl({ DOCKER_HOST: host })).not.toThrow(/hidden/);
  });

  it('absent means the usual socket of the user', async () => {
    await mkdir(join(folder, '.docker/run'), { recursive: true });
    await writeFile(join(folder, '.docker/run/docker.sock'), '');
    // A machine's own socket comes first.
    expect(engineUrl({ HOME: folder })).toMatch(/^unix:\/\/(\/var\/run\/docker\.sock|.*\.docker\/run\/docker\.sock)$/);
  });
});

describe('without an engine', () => {
  it('says immediately that none responds, and where', async () => {
    const socket = join(folder, 'none.sock');
    await using context = await aContext({ env: { DOCKER_HOST: `unix://${socket}` } });
    const startedAt = performance.now();
    expect(await dockerProvider('postgres', context).check()).toEqual({
      kind: 'docker',
      available: false,
      installable: false,
      detail: `no Docker engine responds at unix://${socket} (no such socket)`,
    });
    expect(performance.now() - startedAt).toBeLessThan(CHECK_LIMIT_MS);
  });

  it('says that one has ended when its socket is still there', async () => {
    const socket = join(folder, 'dead.sock');
    // Bound and killed: the file stays.
    const bind = `require('node:net').createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 'SIGKILL'))`;
    await once(spawn(process.execPath, ['-e', bind]), 'exit');
    await using context = await aContext({ env: { DOCKER_HOST: `unix://${socket}` } });
    const { available, detail } = await dockerProvider('postgres', context).check();
    expect({ available, detail }).toEqual({
      available: false,
      detail: `no Docker engine responds at unix://${socket} (ECONNREFUSED)`,
    });
  });

  it('does not wait long for one that hangs', async () => {
    const socket = join(folder, 'hangs.sock');
    const server = createServer().listen(socket);
    await once(server, 'listening');
    await using context = await aContext({ env: { DOCKER_HOST: `unix://${socket}` } });
    const { available, detail } = await dockerProvider('rabbitmq', context).check();
    expect({ available, detail }).toMatchObject({ available: false, detail: expect.stringContaining(socket) });
    server.close();
  }, 5_000);
});

describe('the record of where a project has containers', () => {
  it('names each engine once, also when two components start concurrently', async () => {
    await using context = await aContext();
    const [first, second] = [`unix://${folder}/a.sock`, `unix://${folder}/b.sock`];
    await Promise.all([first, second, first].map((url) => recordEngine(context, url)));
    expect(await readRecord(context.stateDir)).toMatchObject({ engines: [first, second] });
    await rm(join(context.stateDir, 'docker.json'));
  });

  it('costs nothing for a project that never had one', async () => {
    await using context = await aContext();
    expect(await endContainers(context.stateDir)).toBe(0);
    expect(await purgeContainers(context.stateDir)).toBeUndefined();
  });

  it('keeps a purge from claiming that volumes are gone when their engine does not respond', async () => {
    await using context = await aContext();
    await recordEngine(context, `unix://${folder}/none.sock`);
    await expect(purgeContainers(context.stateDir)).rejects.toThrow(
      /volumes labelled .* are still there: no Docker engine/,
    );
    // Its containers, on the other hand, cannot be running.
    expect(await endContainers(context.stateDir)).toBe(0);
    await rm(join(context.stateDir, 'docker.json'));
  });
});
