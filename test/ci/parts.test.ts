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
  expect(built.said).toContain('docker could not run here, as said above; that is not a pass');
  expect(await build({ previous: 3, docker: 3 }, 'previous docker')).toMatchObject({ code: 0 });
});

/** What `command` of .ci/parts ends with and says. */
const run = (command: string, env: NodeJS.ProcessEnv = {}) =>
  bash(`set -euo pipefail; . ${join(cloneRoot(), '.ci/parts')}; ${command}`, { PATH: process.env.PATH, ...env });

it.each([
  ['no step failed', '0 0 0', 0],
  ['one could not run', '0 3 0', 3],
  ['one failed after one could not run', '3 1 0', 1],
  ['one could not run after one failed', '1 3 0', 1],
  ['two failed, the first', '5 6 0', 5],
])('a part of several steps, of which %s, ends with its code', async (_, codes, code) => {
  const part = `loads() { local worst=0; for code in ${codes}; do attempt bash -c "exit $code"; done; return $worst; }`;
  expect((await run(`${part}; loads`)).code).toBe(code);
});

it.each([
  ['all passed', { passed: 2 }, 0, 0],
  ['one was skipped', { passed: 1, skipped: 1 }, 0, 3],
  ['all were skipped', { skipped: 2 }, 0, 3],
  ['none was found', {}, 0, 1],
  ['one failed and one was skipped', { passed: 1, failed: 1, skipped: 1 }, 1, 1],
  ['no report was written', undefined, 0, 1],
])(
  'tests of which %s',
  async (_, counts: Partial<Record<'passed' | 'failed' | 'skipped', number>> | undefined, ended, code) => {
    const folder = await mkdtemp(join(tmpdir(), 'shop-ci-'));
    const { passed = 0, failed = 0, skipped = 0 } = counts ?? {};
    const report = {
      numPassedTests: passed,
      numFailedTests: failed,
      numPendingTests: skipped,
      numTodoTests: 0,
      testResults: [],
    };
    try {
      await writeFile(join(folder, 'report.json'), counts === undefined ? '' : JSON.stringify(report));
      const script = `#!/bin/sh\nfor a; do case $a in --outputFile.json=*) cat ${folder}/report.json > "\${a#*=}" ;; esac; done\nexit ${ended}\n`;
      await writeFile(join(folder, 'vitest'), script, { mode: 0o755 });
      const built = await run('tests some/test/file', { PATH: `${folder}:${process.env.PATH}` });
      expect(built.code).toBe(code);
      expect(built.said).toMatch(
        new RegExp(`^${passed} passed, ${counts === undefined ? 1 : failed} failed, ${skipped} skipped$`, 'm'),
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);

it('.ci/docker ends with 3 where no engine responds and none can be started, and says why', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shop-ci-'));
  try {
    await writeFile(join(folder, 'docker'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    await writeFile(join(folder, 'id'), '#!/bin/sh\necho 1000\n', { mode: 0o755 });
    // The script puts its own programs before these, none of which has these names.
    const built = await bash(join(cloneRoot(), '.ci/docker'), { PATH: `${folder}:${process.env.PATH}` });
    expect(built).toMatchObject({ code: 3, said: expect.stringContaining('docker tests not run: no engine responds') });
    expect(built.said).toContain('0 passed, 0 failed, 1 skipped');
  } finally {
    await rm(folder, { recursive: true });
  }
});
