/* Goal: the reports that CI checks hold every failure. Method: a Vitest run of files that fail in each way. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import type { RunReport } from './run-report.ts';

const files = {
  'mixed.test.ts': `
    describe('a group', () => {
      it('passes', () => {});
      it('fails', () => { throw new Error('one line\\nand another'); });
      it.skip('is skipped', () => {});
    });`,
  'hook.test.ts': `
    describe('a group', () => {
      beforeAll(() => { throw new Error('no platform'); });
      it('is never reached', () => {});
    });`,
  'import.test.ts': `import './not-there.ts'; it('is never seen', () => {});`,
  'exit.test.ts': `it('ends its worker', () => { process.kill(process.pid, 'SIGKILL'); return new Promise(() => {}); });`,
  'unhandled.test.ts': `
    it('passes', async () => {
      void Promise.reject(new Error('no caller waits'));
      await new Promise(setImmediate);
    });`,
};

let folder: string;
beforeAll(async () => {
  // Below the clone, where it finds its packages.
  folder = await mkdtemp(join(cloneRoot(), 'node_modules', '.run-report-'));
  const reporter = JSON.stringify(join(cloneRoot(), 'test/ci/run-report.ts'));
  const config = `
    import { runReporter } from ${reporter};
    export default { test: {
      globals: true, include: ['*.test.ts'], exclude: [], name: 'some', root: ${JSON.stringify(folder)},
      reporters: [runReporter(${JSON.stringify(join(folder, 'report.json'))})],
    } };`;
  const all = { ...files, 'vitest.config.ts': config };
  for (const [name, text] of Object.entries(all)) await writeFile(join(folder, name), text);
});
afterAll(() => rm(folder, { recursive: true }));

it('names each test, its project, what failed outside of tests, and errors that no test caught', {
  timeout: 120_000,
}, async () => {
  const args = [join(cloneRoot(), 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder];
  const code = await new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: folder }, (error) => resolve(error?.code ?? 0));
  });
  expect(code).toBe(1);
  const report = JSON.parse(await readFile(join(folder, 'report.json'), 'utf8')) as RunReport;
  const of = (path: string) => report.files.find((file) => file.path === path);
  expect(of('mixed.test.ts')).toEqual({
    path: 'mixed.test.ts',
    project: 'some',
    failed: true,
    errors: [],
    tests: [
      { name: 'a group > passes', state: 'passed' },
      { name: 'a group > fails', state: 'failed', message: 'one line' },
      { name: 'a group > is skipped', state: 'skipped' },
    ],
  });
  expect(of('hook.test.ts')).toMatchObject({ failed: true, errors: ['no platform'], tests: [{ state: 'skipped' }] });
  expect(of('import.test.ts')).toMatchObject({
    failed: true,
    errors: [expect.stringContaining('not-there')],
    tests: [],
  });
  expect(of('exit.test.ts')).toMatchObject({ failed: true });
  expect(of('unhandled.test.ts')).toMatchObject({ failed: false, tests: [{ state: 'passed' }] });
  expect(report.unhandled).toContain('no caller waits');
});
