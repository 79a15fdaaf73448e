// Goal: what a person does with a running platform, and what happens to it from outside, end as documented.
// Method: one platform through the built binary; commands in the order in which one would try them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createControlClient } from '../../cli/src/platform/control-client.ts';
import type { InstanceState, PlatformState } from '../../cli/src/platform/state.ts';
import { expectBalancedAfterKills } from './support/audit.ts';
import { openShell, type Shell } from './support/cli-run.ts';

/** Of the six services together, once they have settled. */
const MEMORY_LIMIT_MB = 600;

let shell: Shell;
beforeAll(async () => {
  shell = await openShell();
  const { code, stderr } = await shell.run('up');
  if (code !== 0) throw new Error(`up ended with ${code}: ${stderr}`);
});
afterAll(() => shell.remove());

/** What `status --json` prints, without a process for each look. */
const state = (): Promise<PlatformState> => createControlClient(shell.project()).state();

async function instance(name: string): Promise<InstanceState> {
  const found = (await state()).instances.find((one) => one.name === name);
  if (!found) throw new Error(`no ${name}`);
  return found;
}

const pidOf = async (name: string) => (await instance(name)).process?.pid as number;

async function confirmed(): Promise<void> {
  const { code, stdout, stderr } = await shell.run('order', 'place', '--json');
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('Confirmed');
}

it('up again changes nothing', async () => {
  const before = await state();
  const { code, stdout } = await shell.run('up', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ status: 'ready', started: [] });
  const pids = ({ instances }: PlatformState) => instances.map((one) => one.process?.pid);
  expect(pids(await state())).toEqual(pids(before));
});

it('status --json prints the state', async () => {
  const { code, stdout } = await shell.run('status', '--json');
  expect(code).toBe(0);
  const names = ({ instances }: PlatformState) => instances.map(({ name, process }) => `${name} ${process?.pid}`);
  expect(names(JSON.parse(stdout))).toEqual(names(await state()));
});

it('lists every instance in status, with endpoints and memory', async () => {
  const { code, stdout } = await shell.run('status');
  expect(code).toBe(0);
  for (const name of [
    'gateway-1',
    'orders-1',
    'catalog-1',
    'stock-1',
    'payments-1',
    'shipping-1',
    'postgres',
    'rabbitmq',
  ])
    expect(stdout).toContain(name);
  expect(stdout).toMatch(/memory of the services: \d+ MB/);
});

it(`six services together need less than ${MEMORY_LIMIT_MB} MB at rest`, async () => {
  const megabytes = async () => {
    const { instances } = await state();
    const bytes = instances.filter(({ kind }) => kind === 'service').map(({ rssBytes = Number.NaN }) => rssBytes);
    expect(bytes).toHaveLength(6);
    return bytes.reduce((sum, one) => sum + one, 0) / 1024 ** 2;
  };
  // At rest: a process that has just started or served gives pages back later where the machine is busy.
  await expect.poll(megabytes, { timeout: 30_000 }).toBeLessThan(MEMORY_LIMIT_MB);
});

it('port prints the port alone, and it responds', async () => {
  const { code, stdout } = await shell.run('port', 'gateway');
  expect(code).toBe(0);
  expect((await fetch(`http://127.0.0.1:${Number(stdout)}/health/ready`)).status).toBe(200);
  expect((await shell.run('port', 'gatewya')).stderr).toContain('gateway');
});

it('logs prints what a service said', async () => {
  const { code, stdout } = await shell.run('logs', 'orders', '-n', '5');
  expect(code).toBe(0);
  expect(stdout.trim().split('\n').length).toBeLessThanOrEqual(5);
});

it('restart gives a service another process and leaves the others theirs', async () => {
  const [catalog, stock] = [await pidOf('catalog-1'), await pidOf('stock-1')];
  expect((await shell.run('restart', 'catalog')).code).toBe(0);
  expect(await pidOf('catalog-1')).not.toBe(catalog);
  expect(await pidOf('stock-1')).toBe(stock);
});

it('stop ends a service, wait names it as the culprit, start brings it back', async () => {
  expect((await shell.run('stop', 'payments')).code).toBe(0);
  expect((await instance('payments-1')).status).toBe('stopped');
  const waited = await shell.run('wait', 'payments', '--timeout', '1');
  expect(waited.code).toBe(124);
  expect(waited.stderr).toContain('payments');
  expect((await shell.run('start', 'payments')).code).toBe(0);
  expect((await shell.run('wait', 'payments', '--timeout', '20')).code).toBe(0);
  await confirmed();
});

it('adds and removes replicas, and orders pass', async () => {
  expect((await shell.run('up', '--replicas', 'catalog=2')).code).toBe(0);
  expect((await instance('catalog-2')).status).toBe('ready');
  await confirmed();
  expect((await shell.run('up', '--replicas', 'catalog=1')).code).toBe(0);
  expect((await state()).instances.map(({ name }) => name)).not.toContain('catalog-2');
});

describe('kill -9', () => {
  it.each([
    'gateway-1',
    'orders-1',
    'catalog-1',
    'stock-1',
    'payments-1',
    'shipping-1',
    'toxiproxy',
    'postgres',
    'rabbitmq',
  ])(
    'of %s: it is started again, all become ready, and orders pass',
    async (name) => {
      const pid = await pidOf(name);
      process.kill(pid, 'SIGKILL');
      await expect.poll(() => pidOf(name), { timeout: 30_000, interval: 100 }).not.toBe(pid);
      await expect.poll(async () => (await state()).status, { timeout: 60_000, interval: 200 }).toBe('ready');
      await confirmed();
    },
    120_000,
  );

  it('loses nothing that was confirmed: the ledger balances', async () => {
    expectBalancedAfterKills(await shell.run('audit', '--json'));
  });
});

describe('a supervisor that is stopped (SIGSTOP)', () => {
  it('makes status end with 4 and down end everything by pid; up starts again with the data', async () => {
    const { supervisor } = await createControlClient(shell.project()).state();
    process.kill(supervisor.pid, 'SIGSTOP');
    const status = await shell.run('status');
    expect(status.code).toBe(4);
    expect(status.stderr).toContain('does not respond');
    const down = await shell.run('down');
    expect(down.code, down.stderr).toBe(0);
    expect(shell.processes()).toEqual([]);
    expect((await shell.run('up')).code).toBe(0);
    const { stdout } = await shell.run('order', 'list', '--json');
    expect(stdout).toContain('Confirmed');
  }, 120_000);
});

it('down leaves no process and no socket', async () => {
  expect((await shell.run('down')).code).toBe(0);
  expect(shell.processes()).toEqual([]);
  expect(shell.sockets('shop')).toEqual([]);
});
