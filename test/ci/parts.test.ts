/*
 * Goal: a nightly build is green only when each of its parts has run and passed. Method: the functions of .ci/parts with
 * parts that end as real ones do.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';

/** What a build of such parts says and ends with; each part is named and ends with that code. */
function build(parts: Readonly<Record<string, number>>, maySkip?: string): Promise<{ code: number; said: string }> {
  const lines = Object.entries(parts).map(([name, code]) => `part ${name} bash -c 'exit ${code}'`);
  const script = ['set -euo pipefail', `. ${join(cloneRoot(), '.ci/parts')}`, ...lines, 'conclude'].join('\n');
  const env = { PATH: process.env.PATH, ...(maySkip !== undefined && { CI_MAY_SKIP: maySkip }) };
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
  ['the first failure', { experiments: 5, plants: 1, docker: 0 }, 5],
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
