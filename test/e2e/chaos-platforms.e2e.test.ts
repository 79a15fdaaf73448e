/*
 * Goal: experiments on several platforms side by side have their own verdicts, and however the command ends no platform is
 * left. Method: the built `shopctl` with an empty home, and short experiments in a folder of the test. Concurrency is seen by
 * the notes that the command keeps of its platforms.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../cli/src/commands/chaos/experiment-batch.ts';
import { readJournal } from '../../cli/src/experiments/journal.ts';
import { openShell, type Running, type Shell } from './support/cli-run.ts';
import { eventually } from './support/eventually.ts';

/** Several platforms start, one after the other or side by side, on a machine that does other things. */
const TEST_MS = 600_000;
const STARTED_MS = 180_000;
/** Two platforms stop side by side, and their data is removed. */
const GONE_MS = 60_000;

let shell: Shell;
let folder: string;

beforeEach(async () => {
  shell = await openShell();
  folder = await mkdtemp(join(tmpdir(), 'chaos-platforms-'));
});
afterEach(async () => {
  await shell.remove();
  await rm(folder, { recursive: true, force: true });
});

/** One order, then a hold; resolves with the path of its file. */
async function anExperiment(id: string, { hold = '1s', more = '' } = {}): Promise<string> {
  const file = join(folder, `${id}.yaml`);
  const text = `version: shop.chaos/v1
id: ${id}
title: ${id}
why: a test of platforms side by side
steady-state-hypothesis:
  title: ready
  probes:
    - {name: ready, type: probe, provider: {type: ready, target: all}, tolerance: true, within: 60s}
method:
  - {name: an order, type: probe, provider: {type: orders}, tolerance: {each: {response: Confirmed}}}
  - {name: a while, type: hold, for: ${hold}}
${more}
`;
  await writeFile(file, text);
  return file;
}

const notes = () => readdir(join(shell.project().stateDir, 'chaos/ephemeral-platforms')).catch(() => []);
const projects = () => readdir(shell.home);

/** When a run began and ended, ms since 1970, and on which platform. */
async function spanOf({ journal }: RunSummary): Promise<{ began: number; ended: number; project: string }> {
  const { records } = await readJournal(journal);
  const [first, last] = [records[0], records.at(-1)];
  if (first?.type !== 'run' || last === undefined) throw new Error(`${journal} has no beginning`);
  return { began: Date.parse(first.at), ended: Date.parse(last.at), project: first.project };
}

/** Starts two long experiments side by side and resolves when both have begun. */
async function beginTwo(): Promise<Running> {
  const files = [await anExperiment('one', { hold: '100s' }), await anExperiment('two', { hold: '100s' })];
  const running = shell.start('chaos', 'run', ...files, '--fresh', '--platforms', '2', '--json');
  const runs = join(shell.project().stateDir, 'chaos/runs');
  await eventually('both runs', { withinMs: STARTED_MS }, async () => {
    const names = await readdir(runs);
    const texts = await Promise.all(names.map((name) => readFile(join(runs, name, 'journal.jsonl'), 'utf8')));
    return texts.filter((text) => text.includes('"a while"')).length === 2;
  });
  return running;
}

/** Neither processes nor platforms, but the journals. */
async function expectNothingLeft(): Promise<void> {
  await eventually('the platforms to be gone', { withinMs: GONE_MS, seen: () => shell.processes() }, async () => {
    return shell.processes().length === 0 && (await notes()).length === 0;
  });
  expect(await projects()).toEqual(['shop']);
}

describe('experiments on two platforms', () => {
  it('pass side by side, one alone after them, and one whose platform does not start could not run', {
    timeout: TEST_MS,
  }, async () => {
    const broken = 'platform: {env: {DATABASE_POOL_SIZE: none}}';
    const files = [
      await anExperiment('lonely', { more: 'alone: true' }),
      await anExperiment('first'),
      await anExperiment('second', { more: 'platform: {env: {LOG_LEVEL: debug}}' }),
      await anExperiment('broken', { more: broken }),
    ];
    const junit = join(folder, 'junit.xml');
    const running = shell.start(
      ...['chaos', 'run', ...files, '--fresh', '--platforms', '2', '--junit', junit, '--json'],
    );
    const most = await eventually('two platforms', { withinMs: STARTED_MS }, async () => {
      const names = await notes();
      return names.length === 2 && names;
    });
    expect(most.toSorted()).toEqual(['shop-chaos', 'shop-chaos-2']);

    const { code, stdout, stderr } = await running.ended;
    const runs = JSON.parse(stdout) as RunSummary[];
    expect(runs, stderr).toMatchObject([
      { id: 'lonely', verdict: 'pass', exitCode: 0 },
      { id: 'first', verdict: 'pass', exitCode: 0 },
      { id: 'second', verdict: 'pass', exitCode: 0 },
      { id: 'broken', verdict: 'unknown', exitCode: 3 },
    ]);
    expect(runs[3]?.reasons).toEqual([
      expect.stringMatching(/^could not run: its platform did not start: .*(catalog|orders|payments|shipping|stock)/),
    ]);
    expect(code).toBe(3);

    const [lonely, first, second] = await Promise.all(runs.slice(0, 3).map(spanOf));
    expect(lonely?.project).toBe('shop-chaos');
    expect(lonely?.began).toBeGreaterThan(Math.max(first?.ended ?? 0, second?.ended ?? 0));
    expect(stderr).toMatch(/^first\s+\| /m);
    expect(stderr).toMatch(/^second\s+\| /m);
    expect(stderr).not.toMatch(/port \d+ is taken/);
    expect([...(await readFile(junit, 'utf8')).matchAll(/<testsuite name="([^"]+)"/g)]).toHaveLength(4);
    await expectNothingLeft();
  });
});

describe('a command with two platforms that is ended', () => {
  it('by Ctrl-C is interrupted and leaves none', { timeout: TEST_MS }, async () => {
    const running = await beginTwo();
    process.kill(-(running.child.pid as number), 'SIGINT');
    const { code, stdout, stderr } = await running.ended;
    expect(code, stderr).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject([
      { id: 'one', verdict: 'interrupted' },
      { id: 'two', verdict: 'interrupted' },
    ]);
    await expectNothingLeft();
  });

  it('by kill -9 leaves none', { timeout: TEST_MS }, async () => {
    const running = await beginTwo();
    process.kill(-(running.child.pid as number), 'SIGKILL');
    await running.ended;
    await expectNothingLeft();
  });
});

describe('bad input', () => {
  it.each([
    ['no platform', ['--platforms', '0'], "argument '0' is invalid"],
    ['more than there is room for', ['--platforms', '17'], '1 to 16'],
    ['a word', ['--platforms', 'many'], "argument 'many' is invalid"],
    ['one that is kept of several', ['--platforms', '2', '--keep'], '--keep leaves one platform running'],
  ])('%s is refused with exit code 2', async (_, words, message) => {
    const { code, stderr } = await shell.run('chaos', 'run', 'E18', '--fresh', ...words);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(await projects()).toEqual([]);
  });
});
