/*
 * Goal: `shopctl load run` reports the truth about a load, and nothing it did outlives it, however it ends.
 * Method: a real platform with its proxies and real k6, which is installed first when it is not here. Short runs, one
 * of them with the broker unavailable; runs that are interrupted and killed; what is refused before anything happens.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { LoadResult } from '../../cli/src/load/result.ts';
import { cloneRoot, openProject } from '../../cli/src/platform/project.ts';
import { describeTools } from '../../cli/src/providers/resolve-tool.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import * as chaos from './support/chaos.ts';
import { place } from './support/client.ts';
import { eventually } from './support/eventually.ts';
import { isK6Available } from './support/k6.ts';
import { inParallel } from './support/parallel.ts';
import { processesMarked } from './support/processes.ts';

const { cacheDir } = openProject('e2e-load-run', cloneRoot(), process.env);
const { k6: ways } = await describeTools({ cacheDir, env: process.env });
const isAvailable = await isK6Available(ways, process.env);
if (!isAvailable) console.warn(`skipped: k6 is not available: ${ways.map(({ detail }) => detail).join('; ')}`);

/** Building k6 takes minutes on a small machine. */
const BUILD_LIMIT_MS = 900_000;
const BEGUN_MS = 40_000;
const ENDED_MS = 8_000;

/** A load, its outbox, its audit and its traces: a busy machine takes several times as long as an idle one. */
const RUN_LIMIT_MS = 240_000;

describe.runIf(isAvailable)('a load', { timeout: RUN_LIMIT_MS }, () => {
  let platform: TestPlatform;
  let folder: string;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'load-run-'));
    platform = await startPlatform({ project: 'e2e-load-run' });
    await ended(start('setup', '--yes', '--with', 'k6'));
    await place(platform);
  }, BUILD_LIMIT_MS);
  afterAll(async () => {
    await platform?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(async ({ task }) => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await chaos.recoverFrom(task, platform);
  });

  /** The built command, in a separate group as a terminal would have it. */
  function start(...args: string[]): ChildProcess {
    const child = spawn(join(platform.project.root, 'cli/bin/shopctl'), [...args, '--project', platform.project.name], {
      env: { ...process.env, SHOPCTL_HOME: dirname(platform.project.stateDir), NO_COLOR: '1' },
      stdio: 'ignore',
    });
    children.push(child);
    return child;
  }

  async function ended(child: ChildProcess): Promise<number> {
    const [code] = (await once(child, 'exit')) as [number];
    return code;
  }

  async function run(...args: string[]): Promise<{ code: number; result: LoadResult; stderr: string }> {
    const { code, stdout, stderr } = await platform.shopctl('load', 'run', ...args, '--json');
    expect(stdout, stderr).not.toBe('');
    return { code, result: JSON.parse(stdout) as LoadResult, stderr };
  }

  /** What did not hold, thresholds aside: a busy machine crosses them, which must not fail a test. */
  const problemsOf = ({ checks }: LoadResult) =>
    checks.filter(({ group, verdict }) => verdict !== 'pass' && group !== 'threshold');
  const exitCodeFor = ({ checks }: LoadResult) => (checks.every(({ verdict }) => verdict === 'pass') ? 0 : 1);

  /** k6 has the folder of its run in its environment. */
  const k6Processes = () => processesMarked(join(platform.project.stateDir, 'load'));
  const runFolders = () => readdir(join(platform.project.stateDir, 'load'));

  /** Resolves with the command once k6 works for it. */
  async function untilK6(child: ChildProcess): Promise<ChildProcess> {
    await eventually('k6 to run', { withinMs: BEGUN_MS }, () => k6Processes().some(isK6));
    return child;
  }
  const isK6 = ({ commandLine }: { commandLine: string }) => commandLine.includes('steady.ts');
  const untilNoK6 = () =>
    eventually('k6 to end', { withinMs: ENDED_MS, seen: k6Processes }, () => k6Processes().length === 0);

  it('that is small is checked by its responses, the ledger and the traces, and reported', async () => {
    const [junit, html] = [join(folder, 'load.xml'), join(folder, 'load.html')];
    const { code, result, stderr } = await run('smoke', '--duration', '6s', '--junit', junit, '--html', html);
    expect(problemsOf(result), stderr).toEqual([]);
    expect(result).toMatchObject({ exitCode: code, notReverted: [] });
    expect(code).toBe(exitCodeFor(result));
    expect(result.orders.sent).toBeGreaterThanOrEqual(10);
    expect(result.traces.length).toBeGreaterThan(0);
    for (const { verdict, explanation } of result.traces)
      expect(`${verdict}: ${explanation}`).toBe('pass: 31 spans, as the contract wants');
    expect(result.usage?.processes.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['orders-1', 'postgres', 'k6']),
    );
    const remembered = (result.usage?.processes ?? []).filter(({ memory }) => (memory?.lastBytes ?? 0) > 0);
    expect(remembered.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['orders-1', 'supervisor', 'postgres', 'rabbitmq', 'toxiproxy']),
    );
    const [row] = await platform.query<{ count: number }>(
      'orders',
      'SELECT count(*)::int AS count FROM orders WHERE starts_with(idempotency_key, $1)',
      [`${result.runId}-`],
    );
    expect(row?.count).toBeGreaterThan(0);
    expect(row?.count).toBeGreaterThanOrEqual(result.orders.outcomes['201 Confirmed'] ?? 0);
    expect(Object.values(result.sagas ?? {}).reduce((sum, count) => sum + count, 0)).toBe(row?.count);
    expect(await readFile(junit, 'utf8')).toContain(`<testsuites tests="${result.checks.length}"`);
    expect(await readFile(html, 'utf8')).toContain(`<strong class="word">${result.verdict}</strong>`);
    expect(await readFile(join(folder, 'load.k6.html'), 'utf8')).toContain('</html>');
    expect(await runFolders()).toEqual([]);
  });

  /*
   * Traces of two: where responses are mixed, of one that was confirmed or declined. A trace is compared of an order
   * whose response came within 700 ms, so that a slow machine needs the time for two of them.
   */
  const short = ['--duration', '10s', '--traces', '2'];

  it('of mixed orders: each gets the response it must, and none is counted twice', async () => {
    const { code, result, stderr } = await run('mixed', ...short);
    expect(problemsOf(result), stderr).toEqual([]);
    expect(code).toBe(exitCodeFor(result));
    const { outcomes } = result.orders;
    for (const outcome of ['201 Confirmed', '200 Cancelled: payment declined', '200 Cancelled: out of stock'])
      expect(outcomes[outcome], JSON.stringify(outcomes)).toBeGreaterThan(0);
    expect(result.orders.errors).toEqual({});
  });

  it('for one product: users who wait take turns at its row, and the ledger balances', async () => {
    // Users wait for each other: with more of them no order of a slow machine is quick enough for its trace.
    const { code, result, stderr } = await run('hot-product', '--vus', '4', ...short);
    expect(problemsOf(result), stderr).toEqual([]);
    expect(code).toBe(exitCodeFor(result));
    const { sent, outcomes } = result.orders;
    expect(outcomes).toEqual({ '201 Confirmed': sent });
    // More than one each: the next is sent once the first has its response.
    expect(sent).toBeGreaterThan(result.settings.vus);
    expect(result.phases).toMatchObject([{ offeredPerSecond: null, missing: 0 }]);
  });

  it('of orders that are repeated concurrently: one order for a key, whatever number of requests', async () => {
    const { code, result, stderr } = await run('retry-storm', ...short);
    expect(problemsOf(result), stderr).toEqual([]);
    expect(code).toBe(exitCodeFor(result));
    expect(result.checks).toContainEqual(
      expect.objectContaining({ name: 'one_order_per_key rate==1', verdict: 'pass' }),
    );
    const [row] = await platform.query<{ count: number }>(
      'orders',
      'SELECT count(*)::int AS count FROM orders WHERE starts_with(idempotency_key, $1)',
      [`${result.runId}-`],
    );
    expect(result.orders.sent).toBe(4 * (row?.count ?? 0));
  });

  it('with an outage of the broker in its middle: orders do not notice, the outbox does and is drained', async () => {
    const { code, result, stderr } = await run(
      'steady',
      '--rate',
      '4',
      '--duration',
      '36s',
      '--chaos',
      'orders-broker:down',
    );
    expect(problemsOf(result), stderr).toEqual([]);
    expect(result.exitCode).toBe(code);
    expect(code).toBe(exitCodeFor(result));
    expect(result.phases.map(({ name }) => name)).toEqual(['before', 'fault', 'recovery', 'after']);
    expect(result.faults).toMatchObject([{ target: 'orders-broker', fault: 'down' }]);
    const { from, to } = result.faults[0] ?? {};
    const lastedMs = Date.parse(String(to)) - Date.parse(String(from));
    // Nine seconds of four orders each wait.
    expect(lastedMs).toBeGreaterThan(7_000);
    expect(result.outbox.peak).toBeGreaterThanOrEqual(20);
    expect(result.outbox.drainMs).not.toBeNull();
    expect(result.traces.every(({ phase }) => phase === 'before' || phase === 'after')).toBe(true);
    await chaos.expectClean(platform);
  });

  it('whose responses are otherwise fails: the thresholds and the exit code say so', async () => {
    const injected = await platform.shopctl('chaos', 'inject', 'orders-catalog', 'down', '--ttl', '60s');
    expect(injected.code, injected.stderr).toBe(0);
    try {
      const { code, result } = await run('steady', '--rate', '2000', '--vus', '1', '--duration', '5s', '--traces', '0');
      expect(code).toBe(1);
      expect(result.verdict).toBe('fail');
      const failed = result.checks.filter(({ verdict }) => verdict === 'fail').map(({ name }) => name);
      expect(failed).toContain('order_expected{phase:whole} rate>=0.99');
      // One user cannot send as many as that.
      expect(failed).toContain('dropped_iterations{scenario:whole} count<=100');
      expect(result.orders.errors).toMatchObject({ catalog_unavailable: expect.any(Number) });
    } finally {
      await platform.shopctl('chaos', 'clear', '--all');
    }
    await chaos.expectClean(platform);
  });

  it('whose command is killed leaves no k6; the next removes what it left, and ended by Ctrl-C leaves nothing', async () => {
    const killed = await untilK6(start('load', 'run', 'steady', '--rate', '2'));
    // Meanwhile another run would see these orders, and these faults.
    const other = await platform.shopctl('load', 'run', 'smoke');
    expect(other).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('an experiment, a load or a drill runs already'),
    });
    killed.kill('SIGKILL');
    await untilNoK6();
    expect(await runFolders()).toHaveLength(1);

    const interrupted = await untilK6(start('load', 'run', 'steady', '--rate', '2'));
    expect(await runFolders()).toHaveLength(1);
    interrupted.kill('SIGINT');
    expect(await ended(interrupted)).toBe(130);
    await untilNoK6();
    expect(await runFolders()).toEqual([]);
  });

  it('that cannot be run as it is asked for is refused before anything happens', async () => {
    const refusals: readonly (readonly [words: readonly string[], why: string])[] = [
      [['steddy'], 'did you mean "steady"?'],
      [['steady', '--duration', '10'], 'expected a number and its unit'],
      [['steady', '--duration', '1s'], 'at least 5s'],
      [['steady', '--chaos', 'orders-brokr:down'], 'did you mean "orders-broker"?'],
      [['steady', '--chaos', 'orders-broker:down,latency=1s'], 'unknown parameter "latency"'],
      [['steady', '--chaos', 'E11'], 'E11 has no fault that could act on a load'],
      [['ramp', '--chaos', 'orders-broker:down'], '--chaos: its own load changes'],
      [['steady', '--junit', '/nowhere/at/all.xml'], 'cannot write /nowhere/at/all.xml'],
    ];
    const responses = await inParallel(4, refusals, ([words]) => platform.shopctl('load', 'run', ...words));
    for (const [index, { code, stdout, stderr }] of responses.entries()) {
      expect(stderr).toContain(refusals[index]?.[1]);
      expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: '' });
    }
    expect(k6Processes()).toEqual([]);
  });

  it('without a platform advises to start one', async () => {
    const home = { SHOPCTL_HOME: join(folder, 'nothing-here') };
    const command = join(platform.project.root, 'cli/bin/shopctl');
    const child = spawn(command, ['load', 'run', 'smoke'], { env: { ...process.env, ...home }, stdio: 'ignore' });
    expect(await ended(child)).toBe(4);
  });

  it('is listed with its settings', async () => {
    const { code, stdout } = await platform.shopctl('load', 'list', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ name: 'ramp', chaos: false, rate: 200 }));
  });
});
