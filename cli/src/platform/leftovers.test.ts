import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseProcStat } from '../process/proc.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from '../process/process-identity.ts';
import { aStubbornTree } from '../process/testing/stubborn-tree.ts';
import { endLeftovers, findLeftovers, parseChildList } from './leftovers.ts';

let folder: string;
const started: number[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shopctl-test-'));
});

afterEach(async () => {
  for (const pid of started.splice(0)) if (await identifyProcess(pid)) process.kill(pid, 'SIGKILL');
  await rm(folder, { recursive: true });
});

/** A process that lives until it is ended. */
async function aProcess(env: Record<string, string> = {}): Promise<ProcessIdentity> {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore', env: { PATH: process.env.PATH, ...env } });
  const pid = child.pid as number;
  started.push(pid);
  return (await identifyProcess(pid)) as ProcessIdentity;
}

async function listOf(lines: string): Promise<string> {
  const file = join(folder, 'children');
  await writeFile(file, lines);
  return file;
}

describe('leftovers of a killed run', () => {
  it('are processes on the list that still live', async () => {
    const { pid, startTime } = await aProcess();
    const list = await listOf(`${pid} ${startTime} TERM\n`);
    expect(await findLeftovers(list, undefined)).toEqual([{ pid, startTime, stopSignal: 'SIGTERM' }]);
  });

  it('are not processes that were given the pid of one that has ended', async () => {
    const { pid, startTime } = await aProcess();
    const list = await listOf(`${pid} ${Number(startTime) - 1} TERM\n`);
    expect(await findLeftovers(list, undefined)).toEqual([]);
  });

  it.runIf(process.platform === 'linux')('are not processes of another boot', async () => {
    const { pid, startTime } = await aProcess();
    const list = await listOf(`${pid} ${startTime} TERM 11111111-2222-3333-4444-555555555555\n`);
    expect(await findLeftovers(list, undefined)).toEqual([]);
  });

  it('are none without a list', async () => {
    expect(await findLeftovers(join(folder, 'none'), undefined)).toEqual([]);
  });

  it.runIf(process.platform === 'linux')('are found by their mark even when they are on no list', async () => {
    const mark = `test${process.pid}`;
    const { pid } = await aProcess({ SHOPCTL_MARK: mark });
    expect((await findLeftovers(join(folder, 'none'), mark)).map((found) => found.pid)).toEqual([pid]);
  });

  it('are gone once they have been ended, also those that ignore their signal', async () => {
    const polite = await aProcess();
    const paused = await aProcess();
    process.kill(paused.pid, 'SIGSTOP');
    await endLeftovers(
      [
        { ...polite, stopSignal: 'SIGTERM' },
        { ...paused, stopSignal: 'SIGWINCH' },
      ],
      200,
    );
    expect(await Promise.all([polite, paused].map(isAlive))).toEqual([false, false]);
  });

  it.runIf(process.platform === 'linux')('are gone with what is below them, also in another session', async () => {
    const { root, below } = await aStubbornTree();
    started.push(root.pid, below.pid);
    await endLeftovers([{ ...root, stopSignal: 'SIGTERM' }], 200);
    await expect.poll(() => isAlive(below), { timeout: 10_000 }).toBe(false);
  });

  it('are read from the list line by line, damaged lines left out', () => {
    expect(parseChildList('12 345 INT\n\n7\nx y TERM\n13 9')).toEqual([
      { pid: 12, startTime: '345', stopSignal: 'SIGINT' },
    ]);
  });
});

describe('/proc/<pid>/stat', () => {
  const rest = '1 1 1 0 -1 4194304 0 0 0 0 30 12 0 0 20 0 11 0 987654 0 0';

  it('is read past a command with spaces and parentheses', () => {
    expect(parseProcStat(`42 (a (b) c) S ${rest}`)).toEqual({
      startTime: '987654',
      parent: 1,
      cpuTicks: 42,
      endedChildrenTicks: 0,
    });
  });

  it('of a zombie is the end of the process', () => {
    expect(parseProcStat(`42 (node) Z ${rest}`)).toBeUndefined();
  });
});
