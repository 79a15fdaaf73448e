// Goal: with services as containers every command does what it does with processes, and nothing stays behind.
// Method: one platform through the built binary, with PostgreSQL and RabbitMQ in containers too where their images are
// here. Without an engine and the base image the tests are skipped, and why is printed.

import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeployRun } from '../../cli/src/deploy/run.ts';
import type { InstanceState, PlatformState } from '../../cli/src/platform/state.ts';
import { CONTAINER_LABEL } from '../../cli/src/providers/docker/labels.ts';
import { projectKey } from '../../cli/src/providers/docker/record.ts';
import { containerImages } from '../../cli/src/providers/docker-plans.ts';
import { harnessCodeIn, harnessCodeOf } from '../support/harness-code.ts';
import { expectBalancedAfterKills } from './support/audit.ts';
import { openShell, type Shell } from './support/cli-run.ts';
import { findEngine } from './support/engine.ts';
import { eventually } from './support/eventually.ts';

const found = await findEngine('services as containers', 'node:24-slim');
const BACK_LIMIT_MS = 30_000;
const FAILPOINT = ['--at', 'charge-decided:response-unsent', '--action', 'error'];

describe.skipIf(found === undefined)('up --runtime docker', () => {
  // Skipped tests are still collected.
  const { engine, has } = found ?? ({} as NonNullable<typeof found>);
  let shell: Shell;
  beforeAll(async () => {
    shell = await openShell();
    const inContainers = [];
    for (const name of ['postgres', 'rabbitmq'] as const) if (await has(containerImages[name])) inContainers.push(name);
    process.stderr.write(`components in containers: ${inContainers.join(', ') || 'none, their images are not here'}\n`);
    const providers = inContainers.flatMap((name) => ['--provider', `${name}=docker`]);
    const { code, stderr } = await shell.run('up', '--runtime', 'docker', ...providers);
    if (code !== 0) throw new Error(`up ended with ${code}: ${stderr}`);
  });
  afterAll(() => shell?.remove());

  const state = async (): Promise<PlatformState> => JSON.parse((await shell.run('status', '--json')).stdout);
  const instance = async (name: string) => (await state()).instances.find((one) => one.name === name) as InstanceState;
  const containerOf = ({ info }: InstanceState) => engine.getContainer(String(info?.container));
  const labels = () => {
    const { name, stateDir } = shell.project();
    return { label: [`${CONTAINER_LABEL}=${projectKey({ project: name, stateDir })}`] };
  };
  const containers = () => engine.listContainers({ all: true, filters: labels() });

  async function expectConfirmed(): Promise<void> {
    const { code, stdout, stderr } = await shell.run('order', 'place', '--json');
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('Confirmed');
  }

  const settled = (pid: number, name: string) =>
    eventually(`${name} to be back`, { withinMs: BACK_LIMIT_MS }, async () => {
      const now = await state();
      const other = now.instances.find((one) => one.name === name)?.process?.pid;
      return now.status === 'ready' && other !== pid;
    });

  it('runs every service in a container that can change nothing, as a user that may do nothing', async () => {
    const { runtime, instances } = await state();
    expect(runtime).toBe('docker');
    const services = instances.filter(({ kind }) => kind === 'service');
    expect(services).toHaveLength(6);
    for (const service of services) {
      const { Config, HostConfig, State } = await containerOf(service).inspect();
      expect(HostConfig).toMatchObject({ ReadonlyRootfs: true, CapDrop: ['ALL'] });
      expect(HostConfig.SecurityOpt).toContain('no-new-privileges');
      expect(Config.User).not.toMatch(/^(0|root)?(:|$)/);
      expect(State.Pid).toBe(service.process?.pid);
    }
  });

  it('runs production builds, which have no failpoint and no seeded bug', async () => {
    for (const service of (await state()).instances.filter(({ kind }) => kind === 'service')) {
      const files = await text(await containerOf(service).getArchive({ path: '/app' }));
      expect(harnessCodeIn(files), service.name).toEqual([]);
    }
    const { code, stderr } = await shell.run('chaos', 'inject', 'payments', 'failpoint', ...FAILPOINT);
    expect(code, stderr).toBe(3);
    expect(stderr).toContain('production build, which has no failpoints');
  });

  it('build --harness makes an image that has them', async () => {
    expect((await shell.run('build', '--harness', 'payments')).code).toBe(0);
    const container = await engine.createContainer({ Image: 'shop/payments:dev-harness' });
    try {
      const files = await text(await container.getArchive({ path: '/app/service.cjs' }));
      expect(harnessCodeIn(files)).toEqual(expect.arrayContaining([...harnessCodeOf('payments')]));
    } finally {
      await container.remove();
    }
  });

  it('shows no password to a user of the engine', async () => {
    const passwords = [...(await readFile(shell.project().secretsFile, 'utf8')).matchAll(/"([\w-]{16,})"/g)];
    expect(passwords.length).toBeGreaterThan(10);
    for (const { Id } of await containers()) {
      const seen = JSON.stringify(await engine.getContainer(Id).inspect());
      for (const [, password = ''] of passwords) expect(seen).not.toContain(password);
    }
  });

  it('listens on loopback only', async () => {
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((one) => one?.family === 'IPv4' && !one.internal);
    if (outside === undefined) return void process.stderr.write('not looked at from outside: only loopback here\n');
    for (const { name, ports } of (await state()).instances)
      expect(await responseOf(outside.address, ports.main as number), name).toBe('ECONNREFUSED');
  });

  it('passes verify', async () => {
    const { code, stdout } = await shell.run('verify');
    expect(code, stdout).toBe(0);
  });

  it('shows logs, usage and ports as with processes', async () => {
    const logs = await shell.run('logs', 'orders', '-n', '3', '--pretty');
    expect(logs.stdout).toMatch(/orders-1/);
    const { rssBytes = 0, ports } = await instance('orders-1');
    expect(rssBytes).toBeGreaterThan(20 * 1024 ** 2);
    expect(Number((await shell.run('port', 'orders')).stdout)).toBe(ports.main);
  });

  it('restarts, stops and starts a service', async () => {
    const before = await instance('catalog-1');
    expect((await shell.run('restart', 'catalog')).code).toBe(0);
    expect((await instance('catalog-1')).process?.pid).not.toBe(before.process?.pid);
    expect((await shell.run('stop', 'payments')).code).toBe(0);
    expect((await containers()).map(({ Names: [name] }) => name)).not.toContainEqual(
      expect.stringMatching(/payments-1$/),
    );
    expect((await shell.run('wait', 'payments', '--timeout', '1')).code).toBe(124);
    expect((await shell.run('start', 'payments')).code).toBe(0);
    await expectConfirmed();
  });

  it('chaos kill: the engine sees a container end, and the supervisor starts another', async () => {
    const { process: before, restarts } = await instance('payments-1');
    const { code, stdout } = await shell.run('chaos', 'inject', 'payments', 'kill', '--json');
    expect(code, stdout).toBe(0);
    await settled(before?.pid as number, 'payments-1');
    expect((await instance('payments-1')).restarts).toBe(restarts + 1);
    await expectConfirmed();
  });

  it.each([
    ['pause', ['stock', 'pause', '--ttl', '60s']],
    ['latency on an edge', ['orders-payments', 'latency', '--latency', '300ms', '--ttl', '60s']],
  ])('chaos %s is seen to act and is reverted', async (_, words) => {
    const { code, stdout } = await shell.run('chaos', 'inject', ...words, '--json');
    expect(code, stdout).toBe(0);
    expect((await shell.run('chaos', 'clear', '--all')).code).toBe(0);
    await eventually('an order to be confirmed', { withinMs: BACK_LIMIT_MS }, async () => {
      const { stdout: order } = await shell.run('order', 'place', '--json');
      return order.includes('Confirmed');
    });
  });

  it('chaos kill and pause of a server in a container, as root; otherwise they are refused', async () => {
    const { provider, process: before } = await instance('postgres');
    if (provider !== 'docker') return void process.stderr.write('no fault in a server’s container: none is in one\n');
    const isRoot = process.getuid?.() === 0;
    expect((await shell.run('chaos', 'inject', 'postgres', 'pause', '--ttl', '60s')).code).toBe(isRoot ? 0 : 3);
    expect((await shell.run('chaos', 'clear', '--all')).code).toBe(0);
    expect((await shell.run('chaos', 'inject', 'postgres', 'kill')).code).toBe(isRoot ? 0 : 3);
    expect((await shell.run('chaos', 'inject', 'orders-db', 'fill')).code).toBe(3);
    if (!isRoot) return;
    await settled(before?.pid as number, 'postgres');
    await eventually('an order to be confirmed', { withinMs: BACK_LIMIT_MS }, async () => {
      return (await shell.run('order', 'place', '--json')).stdout.includes('Confirmed');
    });
  });

  it('scale, drain, reroute and shed reach containers, and restart none', { timeout: 180_000 }, async () => {
    const callers = async () =>
      [await instance('gateway-1'), await instance('orders-1')].map((one) => one.process?.pid);
    const before = await callers();
    const done = async (...words: string[]) => {
      const { code, stderr } = await shell.run(...words, '--json');
      expect(code, `${words.join(' ')}: ${stderr}`).toBe(0);
    };
    await done('scale', 'payments=2');
    await done('drain', 'payments-2');
    expect(await instance('payments-2')).toMatchObject({ status: 'ready', upstream: { state: 'draining' } });
    await expectConfirmed();
    await done('drain', 'payments-2', '--undo');
    await done('reroute', 'orders-payments', '--via', 'standby');
    await expectConfirmed();
    await done('reroute', 'orders-payments', '--via', 'primary');
    await done('scale', 'payments=1');
    const isShed = async () => (await shell.run('order', 'place', '--json')).stderr.includes('order_shed');
    await done('shed', '100');
    await eventually('an order to be shed', { withinMs: BACK_LIMIT_MS }, isShed);
    await done('shed', '0');
    await eventually('orders not to be shed', { withinMs: BACK_LIMIT_MS }, async () => !(await isShed()));
    await expectConfirmed();
    expect(await callers()).toEqual(before);
    expect((await shell.run('changes', '--kind', 'scale', 'drain', 'reroute', 'shed')).stdout).toContain('payments-2');
  });

  it('two gateways share the port, and "restart" replaces one after the other', { timeout: 120_000 }, async () => {
    const gateways = async () => (await state()).instances.filter(({ service }) => service === 'gateway');
    expect((await shell.run('scale', 'gateway=2')).code).toBe(0);
    const before = await gateways();
    expect(new Set(before.map(({ ports }) => ports.main)).size).toBe(1);
    expect((await shell.run('restart', 'gateway', '--no-build')).code).toBe(0);
    const pids = before.map(({ process }) => process?.pid);
    expect((await gateways()).filter(({ process }) => pids.includes(process?.pid))).toEqual([]);
    await expectConfirmed();
    expect((await shell.run('scale', 'gateway=1')).code).toBe(0);
  });

  it.each([
    ['ops', 'db', 'sessions', 'orders'],
    ['ops', 'broker', 'bindings'],
    ['ops', 'clock', 'sync'],
    ['dlq', 'ls'],
  ])('%s %s %s', async (...words) => {
    const { code, stderr } = await shell.run(...words, '--json');
    expect(code, stderr).toBe(0);
  });

  it('deploys images, rolling and blue-green, and rolls back to what ran before', { timeout: 300_000 }, async () => {
    const deploy = async (...args: readonly string[]): Promise<DeployRun> => {
      const { code, stdout, stderr } = await shell.run('deploy', ...args, '--json');
      expect(code, stderr).toBe(0);
      return JSON.parse(stdout);
    };
    const imageOf = async (name: string) => (await containerOf(await instance(name)).inspect()).Image;
    const rolling = await deploy('orders', '--keep', '0ms');
    expect(rolling).toMatchObject({
      state: 'done',
      releases: { to: { image: expect.stringContaining('shop/orders:') } },
    });
    expect(await imageOf('orders-1')).toBe(rolling.releases?.to.digest);
    const back = await deploy('rollback', 'orders');
    expect(back).toMatchObject({ state: 'done', to: rolling.from });
    expect(await imageOf('orders-1')).toBe(rolling.releases?.from.digest);
    expect(await deploy('payments', '--strategy', 'blue-green', '--keep', '0ms')).toMatchObject({ state: 'done' });
    await expectConfirmed();
    expect((await state()).instances.filter(({ kind }) => kind === 'service')).toHaveLength(6);
    for (const service of ['orders', 'payments']) expect((await shell.run('deploy', 'unpin', service)).code).toBe(0);
  });

  it('a container that is killed by the engine is a crash like any other', async () => {
    const before = await instance('orders-1');
    await containerOf(before).kill();
    await settled(before.process?.pid as number, 'orders-1');
    await expectConfirmed();
  });

  it('the ledger balances after all that', async () => {
    expectBalancedAfterKills(await shell.run('audit', '--json'));
  });

  it('a killed supervisor leaves no container', async () => {
    const { supervisor } = await state();
    process.kill(supervisor.pid, 'SIGKILL');
    await eventually(
      'the containers to be gone',
      { withinMs: BACK_LIMIT_MS },
      async () => (await containers()).length === 0,
    );
  });

  it('down -v leaves no container, no volume and no process', async () => {
    expect((await shell.run('up', 'catalog', '--runtime', 'docker')).code).toBe(0);
    expect((await shell.run('down', '-v')).code).toBe(0);
    expect(await containers()).toEqual([]);
    expect((await engine.listVolumes({ filters: labels() })).Volumes ?? []).toEqual([]);
    expect(shell.processes()).toEqual([]);
  });
});

describe('where no engine responds', () => {
  it.each(['build', 'up --runtime docker --no-build'])('%s ends with 3 and says how to get one', async (words) => {
    const shell = await openShell({ env: { DOCKER_HOST: 'unix:///nowhere/docker.sock' } });
    const { code, stderr } = await shell.run(...words.split(' '));
    expect(code, stderr).toBe(3);
    expect(stderr).toMatch(/needs a Docker engine[\s\S]*next:.*install/);
    await shell.remove();
  });

  it('an unknown runtime and a bad tag are wrong usage', async () => {
    const shell = await openShell({ env: { SHOPCTL_RUNTIME: 'podman' } });
    expect((await shell.run('up')).code).toBe(2);
    expect((await shell.run('up', '--runtime', 'vm')).code).toBe(2);
    expect((await shell.run('build', '--tag', '-x y')).code).toBe(2);
    expect((await shell.run('build', 'ordres')).stderr).toContain('orders');
    await shell.remove();
  });
});

/** "open" or the code of the error. */
function responseOf(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2_000 });
    const end = (response: string) => {
      socket.destroy();
      resolve(response);
    };
    socket.once('connect', () => end('open')).once('timeout', () => end('timeout'));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}
