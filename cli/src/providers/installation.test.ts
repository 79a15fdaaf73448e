import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { holdInstallation } from './installation.ts';
import { installFirst } from './resolve.ts';

let cacheDir: string;
beforeEach(async () => {
  cacheDir = join(await mkdtemp(join(tmpdir(), 'shop-installation-')), 'cache');
});
afterEach(() => rm(join(cacheDir, '..'), { recursive: true, force: true }));

/** A program that can be built, and is there once the build has been let end. */
function aProgram() {
  const [began, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const program = { builds: 0, began: began.promise, end: end.resolve, isThere: false };
  const way = {
    kind: 'go' as const,
    check: async () => ({ kind: 'go' as const, available: program.isThere, installable: true, detail: '' }),
    async install() {
      program.builds++;
      began.resolve();
      await end.promise;
      program.isThere = true;
    },
  };
  return { program, ways: [way] };
}

describe('two concurrent installations of one thing', () => {
  it('build it once: the second says that it waits, and finds it', async () => {
    const { program, ways } = aProgram();
    const first = installFirst('k6', ways, { cacheDir, onProgress: () => undefined });
    await program.began;
    const waits = Promise.withResolvers<string>();
    const second = installFirst('k6', ways, { cacheDir, onProgress: waits.resolve });
    expect(await waits.promise).toContain('another process that installs k6');
    program.end();
    await Promise.all([first, second]);
    expect(program.builds).toBe(1);
  });

  it('do not wait for each other when they are of two things', async () => {
    await using _k6 = await holdInstallation('k6', { cacheDir, onProgress: () => undefined });
    const { program, ways } = aProgram();
    program.end();
    await installFirst('toxiproxy', ways, { cacheDir, onProgress: () => undefined });
    expect(program.builds).toBe(1);
  });

  it('leave the one that waits to its signal', async () => {
    await using _ = await holdInstallation('k6', { cacheDir, onProgress: () => undefined });
    const interrupted = new AbortController();
    const { program, ways } = aProgram();
    const waiting = installFirst('k6', ways, {
      cacheDir,
      onProgress: () => interrupted.abort(new Error('Ctrl-C')),
      signal: interrupted.signal,
    });
    await expect(waiting).rejects.toThrow('Ctrl-C');
    expect(program.builds).toBe(0);
  });
});

it('a way that fails is followed by the next, and what that one installs is enough', async () => {
  const { program, ways } = aProgram();
  program.end();
  const said: string[] = [];
  const unreachable = {
    kind: 'release' as const,
    check: async () => ({ kind: 'release' as const, available: false, installable: true, detail: '' }),
    install: () => Promise.reject(new Error('no network')),
  };
  const onProgress = (message: string) => said.push(message);
  await installFirst('k6', [unreachable, ...ways], { cacheDir, onProgress });
  expect(said).toEqual(['release: no network']);
  expect(program.builds).toBe(1);
});

it('an installation whose process was killed delays no other', async () => {
  const { program, ways } = aProgram();
  program.end();
  await using _ = await holdInstallation('other', { cacheDir, onProgress: () => undefined });
  // No process is older than the machine.
  await writeFile(join(cacheDir, 'installing-k6'), JSON.stringify({ pid: process.pid, startTime: 'long ago' }));
  await installFirst('k6', ways, { cacheDir, onProgress: () => undefined });
  expect(program.builds).toBe(1);
});
