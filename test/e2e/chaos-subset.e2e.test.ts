/*
 * Goal: the experiments tagged `fast` pass, each for its own reason.
 * Method: the built `shopctl` runs all of them with one command, on several platforms concurrently: most of the time an
 * experiment waits. The whole catalog is `npm run chaos:all`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../cli/src/commands/chaos/experiment-batch.ts';
import { findExperiments } from '../../cli/src/experiments/format/catalog.ts';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { type Ended, openShell, type Shell } from './support/cli-run.ts';

const PLATFORMS = 3;
/** Two minutes for each experiment, as many after each other as one platform gets. */
const fast = (await findExperiments(cloneRoot(), { tags: ['fast'] })).map(({ experiment }) => experiment);
const RUN_LIMIT_MS = Math.ceil(fast.length / PLATFORMS) * 120_000;

let shell: Shell;
let command: Ended;
let runs: ReadonlyMap<string, RunSummary>;
beforeAll(async () => {
  shell = await openShell();
  const ids = fast.map(({ id }) => id);
  command = await shell.run('chaos', 'run', ...ids, '--fresh', '--platforms', String(PLATFORMS), '--json');
  const summaries: readonly RunSummary[] = command.stdout === '' ? [] : JSON.parse(command.stdout);
  runs = new Map(summaries.map((run) => [run.id, run]));
}, RUN_LIMIT_MS);
afterAll(() => shell.remove());

describe('the fast experiments', () => {
  it('need no special platform', () => {
    const needs = fast.map(({ id, alone, platform: own }) => ({ id, alone, ...own, failpoints: true }));
    const common = { alone: false, failpoints: true, alerts: false, replicas: {}, env: {}, 'seeded-bugs': [] };
    expect(needs).toEqual(fast.map(({ id }) => ({ id, ...common })));
  });

  it.each(fast)('$id $title', ({ id }) => {
    const { verdict, exitCode, reasons } = runs.get(id) ?? {};
    expect({ verdict, exitCode, reasons }, command.stderr).toEqual({ verdict: 'pass', exitCode: 0, reasons: [] });
  });

  it('end with the exit code of a pass, and leave no platform', () => {
    expect(command.code, command.stderr).toBe(0);
    expect(shell.processes()).toEqual([]);
  });
});
