/*
 * Goal: an operator reads what of a budget is left, and when it is spent.
 * Method: the SLOs of the clone, and servers that respond as the supervisor and as Prometheus do.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CommandDeps } from '../../command-context.ts';
import { createOutput } from '../../output/output.ts';
import { type ControlHandlers, startControlApi } from '../../platform/control-api.ts';
import { cloneRoot, openProject, type Project } from '../../platform/project.ts';
import type { InstanceState } from '../../platform/state.ts';
import { runSloList, runSloShow } from './run-slo.ts';

let home: string;
let project: Project;
let supervisor: Server;
let prometheus: Server;
let instances: readonly Partial<InstanceState>[];
let printed: string;
/** By a part of the expression. */
let values: Readonly<Record<string, string>>;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shop-slo-'));
  project = openProject('shop', cloneRoot(), { SHOPCTL_HOME: home });
  const handlers: Partial<ControlHandlers> = { state: async () => ({ instances }) as never };
  supervisor = await startControlApi(project.socketPath, handlers as ControlHandlers);
  prometheus = createServer((request, response) => {
    const query = new URL(request.url ?? '/', 'http://localhost').searchParams.get('query') ?? '';
    const value = Object.entries(values).find(([part]) => query.startsWith(part))?.[1];
    const result = value === undefined ? [] : [{ metric: {}, value: [1, value] }];
    response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }));
  });
  await new Promise<void>((resolve) => prometheus.listen(0, '127.0.0.1', resolve));
  const { port } = prometheus.address() as AddressInfo;
  instances = [{ name: 'prometheus', service: 'prometheus', status: 'ready', url: `http://127.0.0.1:${port}` }];
  values = {
    'slo:attained': '0.9963',
    'slo:budget_left': '0.25',
    'slo:burn_now': '1.0714285714285714',
    'slo:events': '1200',
  };
});
afterEach(async () => {
  for (const server of [supervisor, prometheus]) {
    server.close();
    server.closeAllConnections();
  }
  await rm(home, { recursive: true });
});

function deps(json = false): CommandDeps {
  printed = '';
  const stdout = {
    write(text: string) {
      printed += text;
    },
  };
  const output = createOutput({ stdout, stderr: { write: () => undefined }, env: { NO_COLOR: '1' } });
  if (json) output.use('json');
  return { output, projectFrom: () => project } as unknown as CommandDeps;
}

it('lists each SLO with what is attained and left, and when the budget is spent at this pace', async () => {
  await runSloList({}, deps());
  const [header, ...rows] = printed.trimEnd().split('\n');
  expect(header).toMatch(/^SLO +OBJECTIVE +WINDOW +ATTAINED +BUDGET LEFT +BURN NOW +AT THIS PACE$/);
  const row = rows.find((line) => line.startsWith('orders-availability'));
  expect(row).toMatch(/^orders-availability +99\.5 % +1h +99\.63 % +25 % +1\.07 +spent in 14 min 0 s$/);
});

it('shows one with its alerts', async () => {
  await runSloShow('orders-availability', {}, deps());
  expect(printed).toContain('99.63 % of 1200 requests');
  expect(printed).toMatch(/OrdersErrorBudgetBurn +fast +burn rate above 14\.4 over 1m and 10s/);
  await runSloShow('orders-availability', {}, deps(true));
  expect(JSON.parse(printed)).toMatchObject({
    name: 'orders-availability',
    objective: 0.995,
    window: '1h',
    attained: 0.9963,
    budgetLeft: 0.25,
    events: 1200,
    spentInMs: expect.closeTo(14 * 60_000, 3),
  });
});

it('has no number where Prometheus has none', async () => {
  values = { 'slo:attained': 'NaN' };
  await runSloShow('orders-latency', {}, deps(true));
  const nothing = { attained: null, budgetLeft: null, burnNow: null, events: null, spentInMs: null };
  expect(JSON.parse(printed)).toMatchObject(nothing);
  await runSloShow('orders-latency', {}, deps());
  expect(printed).toMatch(/at this pace +no data/);
});

it('ends with 2 for an unknown name, with 3 without alerts, with 4 while Prometheus is not ready', async () => {
  await expect(runSloShow('orders-availabilty', {}, deps())).rejects.toMatchObject({
    code: 'unknown_slo',
    what: expect.stringContaining('did you mean "orders-availability"'),
  });
  instances = [];
  await expect(runSloList({}, deps())).rejects.toMatchObject({
    exitCode: 3,
    next: expect.stringContaining('up --with alerts'),
  });
  instances = [{ name: 'prometheus', service: 'prometheus', status: 'backoff', url: 'http://127.0.0.1:1' }];
  await expect(runSloList({}, deps())).rejects.toMatchObject({ exitCode: 4 });
});
