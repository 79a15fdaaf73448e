/*
 * Goal: a run's verdict is what happened, its journal says so, and nothing it did outlives it, however it ends. The same holds
 * for the runs of a matrix.
 * Method: a real platform, the built `shopctl`, and experiments in a folder of the test. One for each verdict; then
 * runs that are interrupted, and killed with SIGKILL, while their fault is in effect; a matrix at the end.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createToxiproxyClient } from '../../cli/src/chaos/toxiproxy-client.ts';
import type { RunSummary } from '../../cli/src/commands/chaos/experiment-batch.ts';
import { readJournal } from '../../cli/src/experiments/journal.ts';
import type { JournalRecord } from '../../cli/src/experiments/journal-records.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import * as chaos from './support/chaos.ts';
import { place } from './support/client.ts';
import { eventually } from './support/eventually.ts';

/** A fault is gone this long after its holder, in ms. */
const REVERTED_MS = 5_000;
const BEGUN_MS = 60_000;

let platform: TestPlatform;
let folder: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chaos-run-'));
  // A library that is named has to be where it is said to be: on this machine clocks cannot be shifted.
  const env = { SHOPCTL_FAILPOINTS: '1', SHOPCTL_LIBFAKETIME: join(folder, 'not-there.so') };
  platform = await startPlatform({ project: 'e2e-chaos-run', env });
  await place(platform);
});
afterAll(async () => {
  await platform?.stop();
  await rm(folder, { recursive: true, force: true });
});
afterEach(async ({ task }) => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await chaos.recoverFrom(task, platform);
});

const STEADY = `
steady-state-hypothesis:
  title: ready
  probes:
    - {name: ready, type: probe, provider: {type: ready, target: all}, tolerance: true, within: 20s}`;

const SLOW = `
  - name: slow payments
    type: action
    provider: {type: fault, fault: latency, target: orders-payments, latency: 400ms}`;

const ORDERS = `
  - name: orders
    type: probe
    provider: {type: orders, count: 2}
    tolerance: {each: {response: Confirmed, duration: {gte: 400ms}}}`;

/** Writes an experiment and resolves with its path. */
async function anExperiment(id: string, method: string, rest = ''): Promise<string> {
  const file = join(folder, `${id}.yaml`);
  const head = `version: shop.chaos/v1\nid: ${id}\ntitle: ${id}\nwhy: a test of the runner\nbudget: 2m`;
  await writeFile(file, `${head}${STEADY}\nmethod:${method}\n${rest}`);
  return file;
}

async function run(...args: string[]): Promise<{ code: number; runs: RunSummary[]; stderr: string }> {
  const { code, stdout, stderr } = await platform.shopctl('chaos', 'run', ...args, '--json');
  return { code, runs: stdout === '' ? [] : (JSON.parse(stdout) as RunSummary[]), stderr };
}

async function recordsOf(journal: string | undefined): Promise<readonly JournalRecord[]> {
  if (journal === undefined) throw new Error('there is no journal');
  const { records, torn } = await readJournal(journal);
  expect(torn).toBe(false);
  return records;
}

describe('a verdict', () => {
  it('is pass when the fault was seen, the orders were as expected and the ledger balances', async () => {
    const { code, runs, stderr } = await run(await anExperiment('passes', SLOW + ORDERS));
    expect(runs, stderr).toMatchObject([{ id: 'passes', verdict: 'pass', exitCode: 0, reasons: [] }]);
    expect(code).toBe(0);
    const records = await recordsOf(runs[0]?.journal);
    expect(records.at(-1)).toMatchObject({ type: 'verdict', verdict: 'pass' });
    expect(records.filter(({ type }) => type === 'fault')).toMatchObject([
      { state: 'injected' },
      { state: 'reverted' },
    ]);
    expect(records.find(({ type }) => type === 'witness')).toMatchObject({ verdict: 'observed' });
    expect(records.filter((record) => record.type === 'order' && record.state === 'ok')).toHaveLength(2);
    expect(records.find(({ type }) => type === 'audit')).toMatchObject({ verdict: 'pass' });
    await chaos.expectClean(platform);
  });

  it('is fail when an order is not as expected', async () => {
    const wrong = ORDERS.replace('response: Confirmed', 'response: Cancelled');
    const { code, runs } = await run(await anExperiment('fails', SLOW + wrong));
    expect(runs).toMatchObject([{ verdict: 'fail', exitCode: 1 }]);
    expect(runs[0]?.reasons[0]).toContain('"orders": 2 orders: 2 Confirmed');
    expect(code).toBe(1);
    await chaos.expectClean(platform);
  });

  it('is pass also when another client orders meanwhile, whose orders are distinguished', async () => {
    const hold = '\n  - {name: a while, type: hold, for: 5s}';
    const running = run(await anExperiment('beside', SLOW + ORDERS + hold));
    const folders = join(platform.project.stateDir, 'chaos/runs');
    const placed = await eventually('the fault of the run', { withinMs: BEGUN_MS }, async () => {
      const name = (await readdir(folders)).find((one) => one.includes('-beside-'));
      const { records } = await readJournal(join(folders, name ?? '', 'journal.jsonl')).catch(() => ({ records: [] }));
      return records.some(({ type }) => type === 'witness') ? place(platform) : undefined;
    });
    expect(placed).toMatchObject({ status: 201 });
    await place(platform);
    const { runs, stderr } = await running;
    expect(runs, stderr).toMatchObject([{ verdict: 'pass', reasons: [] }]);
    const records = await recordsOf(runs[0]?.journal);
    const summary = records.find((record) => record.type === 'event' && record.event === 'orders.of-others');
    expect(summary).toMatchObject({ details: expect.stringMatching(/^[12] orders of other clients$/) });
  });

  it('is unknown when the fault was never met', async () => {
    const never = `
  - name: waits for a compensation
    type: action
    provider: {type: fault, fault: failpoint, target: orders, at: step-failed:unsaved, action: kill}`;
    const orders = ORDERS.replace('gte: 400ms', 'lte: 12s');
    const { code, runs, stderr } = await run(
      await anExperiment('unseen', never + orders, 'platform: {failpoints: true}'),
    );
    expect(runs, stderr).toMatchObject([{ verdict: 'unknown', exitCode: 5 }]);
    expect(runs[0]?.reasons[0]).toContain('"waits for a compensation": pending');
    expect(code).toBe(5);
    await chaos.expectClean(platform);
  });

  it('is unknown when a state was not reached', async () => {
    const reach = 'reach:\n  - {event: breaker.open, edge: orders-payments}';
    const { runs } = await run(await anExperiment('unreached', SLOW + ORDERS, reach));
    expect(runs).toMatchObject([{ verdict: 'unknown' }]);
    expect(runs[0]?.reasons[0]).toContain('breaker.open of orders-payments was not reached');
  });
});

const HOLD = `
  - name: steady load
    type: action
    provider: {type: load, rate: 2/s, until: stop}${SLOW}
  - {name: under fault, type: hold, for: 60s}`;

/** Starts a run and resolves once its fault is in effect. */
async function begin(
  id: string,
  method = HOLD,
): Promise<{ child: ChildProcess; output: Promise<string>; journal: string }> {
  const file = await anExperiment(id, method);
  const command = join(platform.project.root, 'cli/bin/shopctl');
  const child = spawn(command, ['chaos', 'run', file, '--json', '--project', platform.project.name], {
    env: { ...process.env, SHOPCTL_HOME: join(platform.project.stateDir, '..'), NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  children.push(child);
  const runs = join(platform.project.stateDir, 'chaos/runs');
  const journal = await eventually(`the fault of ${id}`, { withinMs: BEGUN_MS }, async () => {
    const name = (await readdir(runs)).find((one) => one.includes(`-${id}-`));
    if (name === undefined) return undefined;
    const path = join(runs, name, 'journal.jsonl');
    return (await readJournal(path)).records.some(({ type }) => type === 'witness') ? path : undefined;
  });
  return { child, output: text(child.stdout as NodeJS.ReadableStream), journal };
}

describe('a run that is ended', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 130],
  ] as const)('by %s reverts, closes its journal and is interrupted', async (signal, code) => {
    const { child, output, journal } = await begin(`ended-${signal.toLowerCase()}`);
    child.kill(signal);
    const [ended] = (await once(child, 'exit')) as [number];
    expect(ended).toBe(code);
    await chaos.expectClean(platform);
    expect(JSON.parse(await output)).toMatchObject([{ verdict: 'interrupted', exitCode: 130 }]);
    expect((await recordsOf(journal)).at(-1)).toMatchObject({ type: 'verdict', verdict: 'interrupted' });
  });

  it('by kill -9 leaves a readable journal without a verdict, and no fault', async () => {
    const { child, journal } = await begin('killed');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await eventually(
      'the fault to be gone',
      { withinMs: REVERTED_MS },
      async () => (await chaos.activeFaults(platform)).length === 0,
    );
    const { records } = await readJournal(journal);
    expect(records[0]).toMatchObject({ type: 'run' });
    expect(records.some(({ type }) => type === 'verdict')).toBe(false);
    const { stdout } = await platform.shopctl('chaos', 'runs', '--json');
    const listed = (JSON.parse(stdout) as { runId: string; verdict: string | null }[]).find(({ runId }) =>
      runId.includes('-killed-'),
    );
    expect(listed).toMatchObject({ verdict: null });
    // The lock of a killed run delays no other.
    expect((await run(await anExperiment('after-kill', SLOW + ORDERS))).runs).toMatchObject([{ verdict: 'pass' }]);
  });
});

/** The supervisor looks every 2 s and waits 2 s for a response; as much again for a loaded machine. */
const DETECTED_MS = 8_000;

/** A second look of 1 s, and a start. */
const RESTARTED_MS = DETECTED_MS + 4_000;

describe('a run whose Toxiproxy is interrupted', () => {
  const HOLD_A_WHILE = HOLD.replace('for: 60s', 'for: 12s');

  it('by SIGKILL has its proxies and toxics back, and is unknown', async () => {
    const { child, output } = await begin('proxy-killed', HOLD_A_WHILE);
    const before = await platform.instance('toxiproxy');
    process.kill(before.process?.pid as number, 'SIGKILL');
    const toxics = await eventually('the toxic in a new Toxiproxy', { withinMs: DETECTED_MS }, async () => {
      const { restarts } = await platform.instance('toxiproxy');
      const { toxiproxyUrl } = await platform.state();
      const proxy = await createToxiproxyClient(toxiproxyUrl as string).proxy('orders-payments');
      return restarts > before.restarts && proxy.toxics.length > 0 && proxy.toxics;
    });
    expect(toxics).toMatchObject([{ type: 'latency', attributes: { latency: 400 } }]);
    const [code] = (await once(child, 'exit')) as [number];
    const [summary] = JSON.parse(await output) as RunSummary[];
    expect(summary).toMatchObject({ verdict: 'unknown', exitCode: 5 });
    expect(summary?.reasons).toContainEqual(expect.stringContaining('Toxiproxy was interrupted under the run'));
    expect(code).toBe(5);
    await chaos.expectClean(platform);
  });

  it('by SIGSTOP is reported, has a new one with its toxics, and never passes', async () => {
    const { child, output } = await begin('proxy-stopped', HOLD_A_WHILE);
    const { process: proxy } = await platform.instance('toxiproxy');
    process.kill(proxy?.pid as number, 'SIGSTOP');
    await eventually('a new Toxiproxy with the toxic', { withinMs: RESTARTED_MS }, async () => {
      const { status, process: now } = await platform.instance('toxiproxy');
      if (status !== 'ready' || now?.pid === proxy?.pid) return false;
      const { toxiproxyUrl } = await platform.state();
      return (await createToxiproxyClient(toxiproxyUrl as string).proxy('orders-payments')).toxics.length > 0;
    });
    const [code] = (await once(child, 'exit')) as [number];
    const [summary] = JSON.parse(await output) as RunSummary[];
    // Orders hung in it meanwhile, which is a failure when a client waited for its whole deadline.
    expect(['unknown', 'fail']).toContain(summary?.verdict);
    expect(summary?.reasons).toContainEqual(expect.stringContaining('Toxiproxy was interrupted under the run'));
    expect([1, 5]).toContain(code);
    await chaos.expectClean(platform);
  });
});

describe('a run without telemetry', () => {
  it('is unknown where it looks at traces, not fail, and sees them again afterwards', async () => {
    const blind = `
  - name: telemetry is unavailable
    type: action
    provider: {type: fault, fault: telemetry-outage, target: telemetry}
  - name: orders
    type: probe
    provider: {type: orders, count: 2}
    tolerance: {each: {response: Confirmed}}
  - name: their traces
    type: probe
    provider: {type: trace, of: orders}
    tolerance: {contract: confirmed}
    within: 2s
  - {name: telemetry back, type: action, provider: {type: revert}}
  - name: orders that are seen
    type: probe
    provider: {type: orders}
    tolerance: {each: {response: Confirmed}}
  - name: their own
    type: probe
    provider: {type: trace, of: orders that are seen}
    tolerance: {contract: confirmed}
    within: 20s`;
    const { code, runs, stderr } = await run(await anExperiment('blind', blind));
    expect(runs, stderr).toMatchObject([{ verdict: 'unknown', exitCode: 5 }]);
    expect(runs[0]?.reasons).toEqual([expect.stringContaining('"their traces"')]);
    expect(code).toBe(5);
    await chaos.expectClean(platform);
  });
});

describe('an experiment that this machine cannot carry out', () => {
  const late = `
  - name: an hour behind
    type: action
    provider: {type: fault, fault: clock, target: shipping, offset: "-1h"}`;

  it('is refused with exit code 3 and what is missing when it is named', async () => {
    const { code, runs, stderr } = await run(await anExperiment('late', late));
    expect({ code, runs }).toEqual({ code: 3, runs: [] });
    expect(stderr).toContain('not available here: late');
    expect(stderr).toContain('libfaketime is not installed');
  });

  it('is unknown and named beside those that are available when all of a tag are asked for', async () => {
    const { code, runs, stderr } = await run('--tag', 'clock');
    expect(runs.length, stderr).toBeGreaterThan(0);
    for (const summary of runs) {
      expect(summary).toMatchObject({
        verdict: 'unknown',
        exitCode: 5,
        reasons: [expect.stringContaining('libfaketime')],
      });
      expect((await recordsOf(summary.journal)).map(({ type }) => type)).toEqual(['run', 'verdict']);
    }
    expect(code).toBe(5);
  });
});

describe('bad input', () => {
  it.each([
    ['no experiment', [], 'no experiment is named'],
    ['an unknown id', ['E99'], 'unknown experiment'],
    ['a file that is not there', ['./nowhere.yaml'], 'cannot read the experiment'],
  ] as const)('%s is reported with exit code 2', async (_, args, message) => {
    const { code, stderr } = await run(...args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });

  it('a platform that is not what the experiment needs is reported with exit code 3, before anything happens', async () => {
    const file = await anExperiment('needs-two', SLOW, 'platform: {replicas: {orders: 2}}');
    const { code, stderr, runs } = await run(file);
    expect({ code, runs }).toEqual({ code: 3, runs: [] });
    expect(stderr).toContain('needs-two needs 2 replicas of orders');
  });

  it('ephemeral platforms beside the running one need --fresh, which is reported with exit code 2', async () => {
    const { code, stderr, runs } = await run(await anExperiment('several', SLOW), '--platforms', '2');
    expect({ code, runs }).toEqual({ code: 2, runs: [] });
    expect(stderr).toContain('--platforms is of ephemeral platforms');
  });

  it('a dry run prints the plan and runs nothing', async () => {
    const before = (await readdir(join(platform.project.stateDir, 'chaos/runs'))).length;
    const { code, stdout } = await platform.shopctl('chaos', 'run', await anExperiment('dry', SLOW), '--dry-run');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('slow payments') });
    expect(await readdir(join(platform.project.stateDir, 'chaos/runs'))).toHaveLength(before);
  });
});

interface MatrixReport {
  readonly verdict: string;
  readonly cells: readonly { readonly fault: string; readonly at: string; readonly verdict: string }[];
  readonly notCovered: number;
  readonly runs: readonly { readonly journal: string }[];
}

const ROW = ['--fault', 'down', '--target', 'shipping-broker'];

// One row at two boundaries: events whose delivery is not acknowledged while the connection to the broker breaks.
describe('chaos matrix', () => {
  it('holds orders at boundaries, injects the fault meanwhile, and says what came of each cell', async () => {
    const [junit, html] = [join(folder, 'matrix.xml'), join(folder, 'matrix.html')];
    const cells = [
      '--at',
      'shipping.message-received:unrecorded',
      '--at',
      'shipping.shipment-committed:message-unacknowledged',
    ];
    const files = ['--junit', junit, '--html', html];
    const { code, stdout, stderr } = await platform.shopctl('chaos', 'matrix', ...ROW, ...cells, ...files, '--json');
    const reported = JSON.parse(stdout) as MatrixReport;
    expect(reported.cells, stderr).toHaveLength(2);
    expect(reported, stderr).toMatchObject({ verdict: 'pass', notCovered: 0, findings: [] });
    expect(code).toBe(0);

    const { records } = await readJournal(reported.runs[0]?.journal ?? '');
    const injected = records.flatMap((one) =>
      one.type === 'fault' && one.state === 'injected' ? [one.lease.fault] : [],
    );
    expect(injected).toEqual(['failpoint', 'failpoint', 'down']);
    const seen = records.flatMap((one) => (one.type === 'witness' && one.verdict === 'observed' ? [one.step] : []));
    expect(seen.toSorted()).toEqual([
      'hold at shipping.message-received:unrecorded',
      'hold at shipping.shipment-committed:message-unacknowledged',
      'the fault',
    ]);

    expect(await readFile(junit, 'utf8')).toContain(
      'name="down shipping-broker at shipping.shipment-committed:message-unacknowledged"',
    );
    expect(await readFile(html, 'utf8')).toContain('down shipping-broker');
    await chaos.expectClean(platform);
  }, 180_000);

  it('begins nothing that would not end in its time, and says so', async () => {
    const { code, stdout } = await platform.shopctl('chaos', 'matrix', ...ROW, '--budget', '1s', '--json');
    const reported = JSON.parse(stdout) as MatrixReport;
    expect(reported).toMatchObject({ notCovered: 5, runs: [] });
    expect(new Set(reported.cells.map(({ verdict }) => verdict))).toEqual(new Set(['not covered']));
    expect(code).toBe(5);
  });

  it('refuses what it does not have, before anything happens', async () => {
    const { code, stderr } = await platform.shopctl('chaos', 'matrix', '--at', 'orders.stock-reserved:unsavd');
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('did you mean "orders.stock-reserved:unsaved"'),
    });
  });
});
