import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../e2e/support/eventually.ts';
import { startGuard } from './guard.ts';
import { isAlive } from './processes.ts';

let folder: string;
let results: string;
beforeEach(() => {
  [folder, results] = [mkdtempSync(join(tmpdir(), 'guard-')), mkdtempSync(join(tmpdir(), 'guard-results-'))];
});
afterEach(() => {
  for (const one of [folder, results]) rmSync(one, { recursive: true, force: true });
});

/**
 * Starts a process in a separate group, which starts a daemon in another one and guards it and a program. It prints the
 * numbers of both, and then waits to be killed.
 */
const OWNER = `
  import { spawn } from 'node:child_process';
  import { once } from 'node:events';
  import { guardMark, guardProcess, startGuard } from '${new URL('guard.ts', import.meta.url).pathname}';
  const [folder, results] = process.argv.slice(1);
  startGuard(folder, ['touch', results + '/taken-back']);
  const child = spawn('sh', ['-c', 'setsid sleep 600 >&2 & echo $!; exec sleep 600'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...guardMark(folder) },
  });
  guardProcess(folder, 'sleeper', child);
  const [daemon] = await once(child.stdout, 'data');
  console.log(child.pid, Number(daemon));
  setInterval(() => {}, 1_000);`;

it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  'ends what was started when its owner ends by %s',
  async (signal) => {
    const owner = spawn(process.execPath, ['--input-type=module', '-e', OWNER, folder, results], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(owner.stdout, 'data');
    const started = String(line).split(' ').map(Number);
    expect(started.map(isAlive)).toEqual([true, true]);
    owner.kill(signal);
    await eventually('the folder to be gone', { withinMs: 20_000 }, async () => !existsSync(folder));
    // A kill takes effect a moment after it was sent.
    await eventually('both to have ended', { withinMs: 5_000 }, async () => !started.some(isAlive));
    expect(existsSync(join(results, 'taken-back'))).toBe(true);
  },
);

/** As OWNER; its process ignores SIGTERM, and what it starts has neither its group nor the mark. */
const STUBBORN_OWNER = OWNER.replace(
  "'setsid sleep 600 >&2 & echo $!; exec sleep 600'",
  `'trap "" TERM; env -u SHOPCTL_GUARD setsid sleep 600 >&2 & echo $!; while :; do sleep 0.1; done'`,
);

it('ends what is below a process that does not stop in time', async () => {
  expect(STUBBORN_OWNER).not.toBe(OWNER);
  const owner = spawn(process.execPath, ['--input-type=module', '-e', STUBBORN_OWNER, folder, results], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(owner.stdout, 'data');
  const started = String(line).split(' ').map(Number);
  owner.kill('SIGINT');
  await eventually('the folder to be gone', { withinMs: 25_000 }, async () => !existsSync(folder));
  await eventually('both to have ended', { withinMs: 5_000 }, async () => !started.some(isAlive));
});

it('reports what the program printed when it failed, and removes the folder all the same', async () => {
  const guard = startGuard(folder, ['sh', '-c', 'echo refused; exit 3']);
  writeFileSync(join(folder, 'file'), '');
  await expect(guard[Symbol.asyncDispose]()).rejects.toThrow('ended with 3: refused');
  expect(existsSync(folder)).toBe(false);
});
