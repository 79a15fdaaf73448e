/*
 * Goal: a second run forgives nothing but end-to-end tests that pass then, and says each of them. Method: reports as Vitest's
 * runs write them; the whole script with a `vitest` that writes such a report.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import type { FileReport, RunReport, TestReport } from './run-report.ts';

const passed: TestReport = { name: 'the shop > takes orders', state: 'passed' };
const failed: TestReport = { name: 'the shop > recovers', state: 'failed', message: 'expected 503 to be 201' };
const skipped: TestReport = { name: 'the shop > needs root', state: 'skipped' };

function file(path: string, tests: readonly TestReport[], more: Partial<FileReport> = {}): FileReport {
  const project = path.startsWith('test/e2e/') ? 'e2e' : 'units';
  return { path, project, failed: tests.some(({ state }) => state === 'failed'), errors: [], tests, ...more };
}
const run = (...files: readonly FileReport[]): RunReport => ({ files, unhandled: [] });
const whole = (number: number, ...tests: readonly TestReport[]) => file(`test/e2e/${number}.e2e.test.ts`, tests);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-check-'));
});
afterEach(() => rm(folder, { recursive: true }));

interface Checked {
  readonly code: number;
  readonly lines: readonly string[];
  /** The arguments of the second run; undefined: there was none. */
  readonly again: string | undefined;
}

/** Those of the parts of `npm run test:all`, and the one of the second run. */
type Reports = Partial<Record<'most' | 'alone' | 'background' | 'again', RunReport | undefined>>;

/** What is said of all tests, the second run and the exit code of `npm run test:all`. Parts that are not named had no test. */
async function check(reports: Reports, code: number, ...options: readonly string[]): Promise<Checked> {
  for (const [name, report] of Object.entries({ most: run(), alone: run(), background: run(), ...reports })) {
    if (report === undefined) continue;
    const named = name === 'again' ? 'prepared' : name;
    await writeFile(join(folder, `${named}.json`), JSON.stringify(report));
  }
  const vitest = `#!/bin/sh\necho "$@" >'${folder}/arguments'\ncp '${folder}/prepared.json' "$TEST_REPORT"\n`;
  await writeFile(join(folder, 'vitest'), vitest, { mode: 0o755 });
  const env = { PATH: `${folder}:${process.env.PATH}` };
  const args = [join(cloneRoot(), 'test/ci/check-run.ts'), folder, String(code), ...options];
  const ended = await new Promise<{ code: number; stdout: string }>((resolve, reject) => {
    execFile(process.execPath, args, { env }, (error, stdout) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ code: Number(error?.code ?? 0), stdout });
    });
  });
  const again = await readFile(join(folder, 'arguments'), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  return { code: ended.code, lines: ended.stdout.trim().split('\n'), again: again?.trim() };
}

it('counts all tests in the last line, and runs nothing again when all have passed', async () => {
  const most = run(file('kit/a.test.ts', [passed, skipped]), whole(1, passed, passed));
  const alone = run(whole(2, passed));
  const background = run(file('kit/b.test.ts', [passed, skipped]));
  expect(await check({ most, alone, background }, 0)).toEqual({
    code: 0,
    lines: ['flaky: 0', '5 passed, 0 failed, 2 skipped'],
    again: undefined,
  });
});

describe('an end-to-end file that failed', () => {
  const most = run(file('kit/a.test.ts', [passed]), whole(1, passed, failed), whole(2, passed));
  const recovered: TestReport = { name: failed.name, state: 'passed' };

  it('is run again alone, and what passes then is said and counted', async () => {
    const again = run(whole(1, passed, recovered));
    expect(await check({ most, again }, 1)).toEqual({
      code: 0,
      lines: [
        '== second run, alone: test/e2e/1.e2e.test.ts',
        'ci: passed on the second run: test/e2e/1.e2e.test.ts > the shop > recovers (first failure: expected 503 to be 201)',
        'flaky: 1',
        '4 passed, 0 failed, 0 skipped',
      ],
      again: 'run --no-file-parallelism test/e2e/1.e2e.test.ts',
    });
  });

  it('passes no strict build', async () => {
    const { code, lines } = await check({ most, again: run(whole(1, passed, recovered)) }, 1, '--strict');
    expect(code).toBe(1);
    expect(lines).toContain('flaky: 1');
    expect(lines.at(-1)).toBe('4 passed, 1 failed, 0 skipped');
  });

  it.each<[string, RunReport]>([
    ['fails again', run(whole(1, passed, failed))],
    ['is skipped then', run(whole(1, passed, { ...failed, state: 'skipped' }))],
    ['has another test that fails then', run(whole(1, { ...passed, state: 'failed' }, recovered))],
    ['is not found then', run()],
    ['has an error that no test caught then', { ...run(whole(1, passed, recovered)), unhandled: ['it broke'] }],
  ])('fails the build when it %s', async (_, again) => {
    const { code, lines } = await check({ most, again }, 1);
    expect(code).toBe(1);
    expect(lines.at(-1)).toMatch(/ [1-9] failed, /);
  });

  it('whose hook failed is run again, too', async () => {
    const broken = { ...whole(1, skipped), failed: true, errors: ['up ended with 4'] };
    const { code, lines } = await check({ most: run(broken, whole(2, passed)), again: run(whole(1, passed)) }, 1);
    expect({ code, lines }).toEqual({
      code: 0,
      lines: expect.arrayContaining([
        'ci: passed on the second run: test/e2e/1.e2e.test.ts (first failure: up ended with 4)',
        'flaky: 1',
        '2 passed, 0 failed, 0 skipped',
      ]),
    });
  });
});

const five = Array.from({ length: 5 }, (_, index) => whole(index, failed));
const fiveAgain = run(...Array.from({ length: 5 }, (_, index) => whole(index, { ...failed, state: 'passed' })));

it('runs five files again', async () => {
  const { code, lines } = await check({ most: run(...five), again: fiveAgain }, 1);
  expect(code).toBe(0);
  expect(lines).toContain('flaky: 5');
});

it.each<[string, Reports, number, string]>([
  [
    'a unit fails',
    { most: run(file('kit/a.test.ts', [failed]), whole(1, failed)) },
    1,
    'ci: failed: kit/a.test.ts failed',
  ],
  [
    'more than five files fail',
    { most: run(...five, whole(6, failed)) },
    1,
    'ci: failed: 6 files failed: none is run again',
  ],
  [
    'an error was caught by no test',
    { most: { ...run(whole(1, failed)), unhandled: ['it broke'] } },
    1,
    'ci: failed: an error that no test caught: it broke',
  ],
  [
    'the tests ended with an error and no test failed',
    { most: run(whole(1, passed)) },
    130,
    'ci: failed: the tests ended with 130, and no test has failed',
  ],
  [
    'a unit fails that ran in the background',
    { most: run(whole(1, failed)), background: run(file('kit/a.test.ts', [failed])) },
    1,
    'ci: failed: kit/a.test.ts failed',
  ],
  [
    'a part was not run',
    { most: run(whole(1, passed)), alone: undefined },
    0,
    'ci: failed: the part "alone" has written no report',
  ],
  ['no test was run', { most: run() }, 0, 'ci: failed: no test was run'],
])('fails immediately when %s', async (_, reports, ended, says) => {
  const { code, lines, again } = await check({ ...reports, again: fiveAgain }, ended);
  expect({ code, again }).toEqual({ code: 1, again: undefined });
  expect(lines).toContain(says);
  expect(lines.at(-1)).toMatch(/^\d+ passed, [1-9] failed, \d+ skipped$/);
});
