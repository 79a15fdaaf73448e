// Goal: containers, which are not child processes, are ended if and only if the supervisor was killed and had some.
// Method: the script alone; the test holds the pipe that the supervisor would hold.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isAlive } from '../process/process-identity.ts';
import { aStubbornTree } from '../process/testing/stubborn-tree.ts';
import { reaperScript } from './reaper-script.ts';

let folder: string;
let record: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shopctl-reaper-'));
  record = join(folder, 'docker.json');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

it('ends the containers of a killed supervisor, and waits for that', async () => {
  await writeFile(record, '{}');
  expect(await reap({ said: '', command: ['/bin/sh', '-c', 'sleep 0.2; : >"$1"', 'sh', marker()] })).toBe(0);
  expect(existsSync(marker())).toBe(true);
});

it('does nothing when there is no record of containers', async () => {
  expect(await reap({ said: '', command: ['touch', marker()] })).toBe(0);
  expect(existsSync(marker())).toBe(false);
});

it('does nothing when everything has been stopped in order', async () => {
  await writeFile(record, '{}');
  expect(await reap({ said: 'done\n', command: ['touch', marker()] })).toBe(0);
  expect(existsSync(marker())).toBe(false);
});

it('goes on to the end when the containers cannot be ended', async () => {
  await writeFile(record, '{}');
  const list = join(folder, 'children');
  await writeFile(list, '');
  expect(await reap({ said: '', command: ['false'] })).toBe(0);
  expect(existsSync(list)).toBe(false);
});

it.runIf(process.platform === 'linux')(
  'kills what is below a child that does not stop, also in another session',
  async () => {
    const { child, root, below } = await aStubbornTree();
    await writeFile(join(folder, 'children'), `${root.pid} ${root.startTime} TERM\n`);
    const ended = once(child, 'exit');
    expect(await reap({ said: '', command: ['true'] })).toBe(0);
    expect((await ended)[1]).toBe('SIGKILL');
    await expect.poll(() => isAlive(below), { timeout: 10_000 }).toBe(false);
  },
);

function marker(): string {
  return join(folder, 'ended');
}

/** Writes what the supervisor wrote and closes its pipe; resolves to the reaper's exit code. */
async function reap({ said, command }: { said: string; command: readonly string[] }): Promise<number | null> {
  const args = [join(folder, 'children'), 'no-such-mark', record, ...command];
  const child = spawn('/bin/sh', ['-c', reaperScript, 'reaper', ...args], { stdio: ['pipe', 'ignore', 'inherit'] });
  child.stdin.end(said);
  const [code] = await once(child, 'exit');
  return code as number | null;
}
