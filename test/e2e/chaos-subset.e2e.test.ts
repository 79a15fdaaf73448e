/*
 * Goal: the experiments tagged `fast` pass, each for its own reason.
 * Method: the built `shopctl` runs all of them with one command, on several platforms concurrently: most of the time an
 * experiment waits. The whole catalog is `npm run chaos:all`.
 */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../cli/src/commands/chaos/experiment-batch.ts';
import { findExperiments } from '../../cli/src/experiments/format/catalog.ts';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { type Guard, guardProcess, startGuard } from '../support/guard.ts';
import { type Ended, openShell, type Shell } from './support/cli-run.ts';

const PLATFORMS = 3;
/** Two minutes for each experiment, as many after each other as one platform gets. */
const fast = (await findExperiments(cloneRoot(), { tags: ['fast'] })).map(({ experiment }) => experiment);
const RUN_LIMIT_MS = Math.ceil(fast.length / PLATFORMS) * 120_000;

let guard: Guard;
let shell: Shell;
let command: Ended;
let runs: ReadonlyMap<string, RunSummary>;
beforeAll(async () => {
  const home = await mkdtemp(join(tmpdir(), 'chaos-subset-'));
  guard = startGuard(home);
  shell = await openShell({ home });
  const ids = fast.map(({ id }) => id);
  const running = shell.start('chaos', 'run', ...ids, '--fresh', '--platforms', String(PLATFORMS), '--json');
  using _guarded = guardProcess(home, 'chaos-run', running.child);
  command = await running.ended;
  const summaries: readonly RunSummary[] = command.stdout === '' ? [] : JSON.parse(command.stdout);
  runs = new Map(summaries.map((run) => [run.id, run]));
}, RUN_LIMIT_MS);
afterAll(() => guard?.[Symbol.asyncDispose]());

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
