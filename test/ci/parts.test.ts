/*
 * Goal: a nightly build is green only when each of its parts has run and passed. Method: the functions of .ci/parts with
 * parts that end as real ones do; .ci/docker on a machine without an engine.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';

/** What a build of such parts says and ends with; each part is named and ends with that code. */
function build(parts: Readonly<Record<string, number>>, maySkip?: string): Promise<{ code: number; said: string }> {
  const lines = Object.entries(parts).map(([name, code]) => `part ${name} bash -c 'exit ${code}'`);
  const script = ['set -euo pipefail', `. ${join(cloneRoot(), '.ci/parts')}`, ...lines, 'conclude'].join('\n');
  const env = { PATH: process.env.PATH, ...(maySkip !== undefined && { CI_MAY_SKIP: maySkip }) };
  return bash(script, env);
}

function bash(script: string, env: NodeJS.ProcessEnv): Promise<{ code: number; said: string }> {
  return new Promise((resolve, reject) => {
    execFile('bash', ['-c', script], { env }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ code: Number(error?.code ?? 0), said: stdout + stderr });
    });
  });
}

it('passes when every part does', async () => {
  expect(await build({ experiments: 0, docker: 0 })).toMatchObject({ code: 0 });
});

it.each([
  ['the first failure', { experiments: 5, 'seeded-bugs': 1, docker: 0 }, 5],
  ['a failure beside a part that could not run', { previous: 3, docker: 1 }, 1],
  ['a part that could not run', { experiments: 0, docker: 3 }, 3],
])('ends with the code of %s, and runs the others', async (_, parts, code) => {
  const built = await build(parts);
  expect(built.code).toBe(code);
  for (const name of Object.keys(parts)) expect(built.said).toContain(`== ${name}`);
});

it('names what could not run, whether or not it may', async () => {
  const built = await build({ previous: 3, docker: 3 }, 'previous');
  expect(built).toMatchObject({ code: 3 });
  expect(built.said).toContain('previous could not run here, as said above; CI_MAY_SKIP allows that');
  expect(built.said).toContain('docker could not run here, as said above; that is no pass');
  expect(await build({ previous: 3, docker: 3 }, 'previous docker')).toMatchObject({ code: 0 });
});

it('.ci/docker ends with 3 where no engine answers and none can be started, and says why', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shop-ci-'));
  try {
    await writeFile(join(folder, 'docker'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    await writeFile(join(folder, 'id'), '#!/bin/sh\necho 1000\n', { mode: 0o755 });
    // The script puts its own programs before these, none of which has these names.
    const built = await bash(join(cloneRoot(), '.ci/docker'), { PATH: `${folder}:${process.env.PATH}` });
    expect(built).toMatchObject({ code: 3, said: expect.stringContaining('docker tests not run: no engine answers') });
    expect(built.said).toContain('0 passed, 0 failed, 1 skipped');
  } finally {
    await rm(folder, { recursive: true });
  }
});
