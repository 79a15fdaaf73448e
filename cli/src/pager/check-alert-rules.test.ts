import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkAlertRules } from './check-alert-rules.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'shop-rules-'));
  // Prints what it is asked, and fails where a file is a bad one.
  await write('promtool', '#!/bin/sh\necho "$@"\ncase "$*" in *bad*) exit 1;; esac\n');
  await chmod(join(root, 'promtool'), 0o755);
});
afterEach(() => rm(root, { recursive: true }));

async function write(path: string, content = ''): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), content);
}

const check = () =>
  checkAlertRules({ promtool: join(root, 'promtool'), root, env: process.env, signal: new AbortController().signal });

it('checks the rules of each profile and runs their tests', async () => {
  await write('dashboards/prometheus/laptop/alerts.yaml');
  await write('dashboards/prometheus/laptop/recording.yaml');
  await write('dashboards/prometheus/laptop/tests/OutboxStalled.yaml');
  await write('dashboards/prometheus/laptop/tests/rules/OutboxStalled.yaml');
  await write('dashboards/prometheus/production/alerts.yaml');
  expect(await check()).toMatchObject([
    { name: 'rules of laptop', verdict: 'pass', evidence: '2 files' },
    { name: 'tests of laptop', verdict: 'pass', evidence: '1 file' },
    { name: 'rules of production', verdict: 'pass', evidence: '1 file' },
  ]);
});

it('has the words of promtool where one fails', async () => {
  await write('dashboards/prometheus/laptop/alerts.yaml');
  await write('dashboards/prometheus/laptop/tests/bad.yaml');
  expect(await check()).toMatchObject([
    { verdict: 'pass' },
    { verdict: 'fail', details: 'test rules dashboards/prometheus/laptop/tests/bad.yaml' },
  ]);
});

it('runs each test once, in as many programs as there are cores, and has the words of each that fails', async () => {
  const cores = availableParallelism();
  const names = Array.from({ length: 2 * cores }, (_, index) => `dashboards/prometheus/laptop/tests/bad-${index}.yaml`);
  for (const name of names) await write(name);
  await write('dashboards/prometheus/laptop/alerts.yaml');
  const [, tests] = await check();
  expect(tests).toMatchObject({ verdict: 'fail', evidence: `${names.length} files` });
  const programs = tests?.details?.split('\n') ?? [];
  expect(programs).toHaveLength(cores);
  expect(programs.flatMap((words) => words.split(' ').slice(2)).toSorted()).toEqual(names.toSorted());
});

it('is nothing where there are no rules', async () => {
  expect(await check()).toEqual([]);
});
