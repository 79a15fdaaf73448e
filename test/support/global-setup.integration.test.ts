// Goal: a test run that is interrupted leaves nothing. Method: the set-up of a run in a separate process, with its
// servers.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { eventually } from '../e2e/support/eventually.ts';
import { START_TIMEOUT_MS } from './infrastructure.ts';
import { segmentsOf } from './shared-memory.ts';

/** Starts both servers, says where the run's files are, and then waits to be ended. */
const RUN = `
  import { request } from 'node:http';
  import setUp from '${new URL('global-setup.ts', import.meta.url).pathname}';
  let socketPath;
  await setUp({ provide: (name, value) => { if (name === 'testInfrastructure') socketPath = value; } });
  const ask = (path) => new Promise((resolve, reject) =>
    request({ socketPath, path, method: 'POST' }, (response) => response.resume().once('end', () => resolve(response.statusCode)))
      .once('error', reject)
      .end());
  const codes = await Promise.all(['/broker', '/database/catalog'].map(ask));
  console.log(socketPath, codes.join());
  setInterval(() => {}, 1_000);`;

let run: ChildProcess | undefined;
afterEach(() => void run?.kill('SIGKILL'));

it.runIf(process.platform === 'linux')(
  'an interrupted run leaves neither its servers, nor a daemon of theirs, nor its files and shared memory',
  async () => {
    run = spawn(process.execPath, ['--input-type=module', '-e', RUN], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(run.stdout as NonNullable<typeof run.stdout>, 'data');
    const [socket = '', codes] = String(line).trim().split(' ');
    const folder = dirname(socket);
    expect(codes).toBe('200,200');
    const before = await processesOf(folder);
    expect(before).not.toEqual([]);
    const pids = before.map((one) => Number(one.split(' ')[0]));
    expect(await segmentsOf(...pids)).toHaveLength(1);
    run.kill('SIGINT');
    await eventually('the folder to be gone', { withinMs: 20_000 }, () => !existsSync(folder));
    expect(await processesOf(folder)).toEqual([]);
    expect(await segmentsOf(...pids)).toEqual([]);
  },
  START_TIMEOUT_MS,
);

/** What was started for the run: it is in the folder, or has its name among its arguments or in its environment. */
async function processesOf(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && name !== String(process.pid));
  const found = pids.map(async (pid) => {
    const texts = await Promise.all(
      ['cmdline', 'environ'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
    );
    return texts.some((text) => text.includes(folder)) ? [`${pid} ${texts[0]?.replaceAll('\0', ' ')}`] : [];
  });
  return (await Promise.all(found)).flat();
}
