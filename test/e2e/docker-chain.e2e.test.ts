// Goal: a platform of containers is a platform like any other: the line of docs/docker.md that proves it holds, so do
// loads and feature flags. Services that are processes work with components that are containers.
// Method: the built command as a shell runs it, on a platform of containers, then on one of both kinds. Without an
// engine and the images the tests are skipped, and why is printed.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findExperiments } from '../../cli/src/experiments/format/catalog.ts';
import type { LoadResult } from '../../cli/src/load/result.ts';
import { cloneRoot, openProject } from '../../cli/src/platform/project.ts';
import type { PlatformState } from '../../cli/src/platform/state.ts';
import { containerImages } from '../../cli/src/providers/docker-plans.ts';
import { describeTools } from '../../cli/src/providers/resolve-tool.ts';
import { serviceNames } from '../../cli/src/topology/services.ts';
import { type Ended, openShell, type Shell } from './support/cli-run.ts';
import { findEngine } from './support/engine.ts';
import { eventually } from './support/eventually.ts';

/** As docs/docker.md has it, "Services as containers". */
const CHAIN = 'shopctl up --runtime docker && shopctl verify && shopctl chaos run --tag smoke && shopctl audit';
/** Three experiments, each with what must be steady before and after it, on a busy machine. */
const CHAIN_LIMIT_MS = 300_000;
const LOAD_LIMIT_MS = 120_000;
const FOLLOWED_MS = 15_000;

const root = cloneRoot();
const { postgres, rabbitmq } = containerImages;
const found = await findEngine('a platform of containers', 'node:24-slim');
const hasServers =
  found !== undefined && (await findEngine('services as processes with components in containers', postgres, rabbitmq));
const k6 = (await describeTools({ cacheDir: openProject('shop', root, process.env).cacheDir, env: process.env })).k6;
const hasK6 = k6.some(({ available }) => available);
if (found !== undefined && !hasK6)
  console.warn(`skipped: loads on containers: ${k6.map(({ detail }) => detail).join('; ')}`);

const stateOf = async (shell: Shell): Promise<PlatformState> =>
  JSON.parse((await shell.run('status', '--json')).stdout);

it('the smoke experiments kill, pause, cut and slow down, on whatever platform there is', async () => {
  const smoke = await findExperiments(root, { tags: ['smoke'] });
  const nothing = { failpoints: false, alerts: false, replicas: {}, env: {}, 'seeded-bugs': [] };
  expect(smoke.map(({ experiment }) => experiment.platform)).toEqual(smoke.map(() => nothing));
  const faults = smoke.flatMap(({ experiment }) =>
    experiment.method.flatMap((step) =>
      'provider' in step && step.provider.type === 'fault' ? step.provider.fault : [],
    ),
  );
  expect(new Set(faults)).toEqual(new Set(['kill', 'pause', 'down', 'latency']));
});

describe.skipIf(found === undefined)('a platform of containers', () => {
  let shell: Shell;
  beforeAll(async () => {
    shell = await openShell();
  });
  afterAll(() => shell?.remove());

  it(
    'starts, is verified, survives the smoke experiments and balances, by one line of a shell',
    async () => {
      expect(await readFile(join(root, 'docs/docker.md'), 'utf8')).toContain(CHAIN);
      const { code, stdout, stderr } = await runLine(shell, CHAIN);
      expect({ code, said: code === 0 ? '' : `${stdout}\n${stderr}` }).toEqual({ code: 0, said: '' });
      for (const said of ['12 of 12 checks passed', 'the ledger balances']) expect(stdout).toContain(said);
      const { runtime, instances } = await stateOf(shell);
      expect(runtime).toBe('docker');
      // A container was killed in between, by an experiment.
      expect(instances.find(({ name }) => name === 'payments-1')?.restarts).toBe(1);
    },
    CHAIN_LIMIT_MS,
  );

  it.runIf(hasK6).each([
    ['smoke', ['--duration', '6s']],
    ['steady', ['--duration', '8s', '--rate', '5']],
  ])(
    'load run %s: audit, traces, and the CPU of each container',
    async (scenario, options) => {
      const { code, stdout, stderr } = await shell.run('load', 'run', scenario, ...options, '--json');
      expect(stdout, stderr).not.toBe('');
      const { checks, traces, usage, notReverted } = JSON.parse(stdout) as LoadResult;
      const failed = checks.filter(({ verdict }) => verdict !== 'pass');
      // Thresholds aside: a busy machine crosses them.
      expect(failed.filter(({ group }) => group !== 'threshold')).toEqual([]);
      expect(code).toBe(failed.length === 0 ? 0 : 1);
      expect(notReverted).toEqual([]);
      expect(traces.length).toBeGreaterThan(0);
      expect(traces.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
      expect(checks.some(({ group }) => group === 'audit')).toBe(true);
      for (const service of serviceNames) {
        const used = usage?.processes.find(({ name }) => name === `${service}-1`);
        expect(used?.cpuMs, service).toBeGreaterThan(0);
        expect(used?.peakPercent, service).toBeGreaterThan(0);
        expect(used?.memory?.lastBytes, service).toBeGreaterThan(20 * 1024 ** 2);
      }
    },
    LOAD_LIMIT_MS,
  );

  it('a feature flag reaches the service in its container, and is reverted there', async () => {
    const typesOf = async (): Promise<readonly string[]> => {
      const placed = await shell.run('order', 'place', '--json');
      const { id } = JSON.parse(placed.stdout) as { id: string };
      return eventTypes(shell, id);
    };
    expect(await typesOf()).toEqual(['order.confirmed']);
    for (const [switched, expected] of [
      ['on', ['order.confirmed', 'order.confirmed.v2']],
      ['off', ['order.confirmed']],
    ] as const) {
      expect((await shell.run('flags', switched, 'publish-order-confirmed-v2')).code).toBe(0);
      await eventually(`orders to follow the flag ${switched}`, { withinMs: FOLLOWED_MS }, async () => {
        return (await typesOf()).join() === expected.join();
      });
    }
  });
});

describe.skipIf(!hasServers)('services as processes, components in containers', () => {
  let shell: Shell;
  const inContainers = ['postgres', 'rabbitmq'];
  beforeAll(async () => {
    shell = await openShell();
    for (const name of ['jaeger', 'toxiproxy'] as const) {
      if (await found?.has(containerImages[name])) inContainers.push(name);
      else process.stderr.write(`${name} is not in a container: the engine has no image ${containerImages[name]}\n`);
    }
    const { code, stderr } = await shell.run('up', ...inContainers.flatMap((name) => ['--provider', `${name}=docker`]));
    if (code !== 0) throw new Error(`up ended with ${code}: ${stderr}`);
  });
  afterAll(() => shell?.remove());

  it('are what status says', async () => {
    const { runtime, instances } = await stateOf(shell);
    expect(runtime).toBe('process');
    for (const { name, kind, info } of instances)
      expect({ name, isContainer: info?.container !== undefined }).toEqual({
        name,
        isContainer: kind !== 'service' && inContainers.includes(name),
      });
  });

  it('are verified, with the trace from Jaeger where it is one of them', async () => {
    const { code, stdout, stderr } = await shell.run('verify');
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toContain('12 of 12 checks passed');
  });

  it(
    'pass an experiment on an edge and the audit, and go on as containers with their data',
    async () => {
      const experiment = await shell.run('chaos', 'run', 'E09');
      expect(experiment.code, experiment.stdout + experiment.stderr).toBe(0);
      const before = await ordersIn(shell);
      expect((await shell.run('up', '--runtime', 'docker')).code).toBe(0);
      expect((await stateOf(shell)).runtime).toBe('docker');
      expect(await ordersIn(shell)).toBe(before);
      expect((await shell.run('order', 'place')).code).toBe(0);
      expect((await shell.run('up', '--runtime', 'process')).code).toBe(0);
      expect((await stateOf(shell)).runtime).toBe('process');
      const { code, stdout } = await shell.run('audit');
      expect(code, stdout).toBe(0);
    },
    CHAIN_LIMIT_MS,
  );
});

/** The line as a person types it, with the built command on the PATH. */
function runLine(shell: Shell, line: string): Promise<Ended> {
  const env = { ...shell.env, PATH: [join(root, 'cli/bin'), shell.env.PATH].join(delimiter) };
  return new Promise((resolve, reject) => {
    execFile('bash', ['-c', line], { cwd: root, env, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/** The types of an order's events, sorted. */
async function eventTypes(shell: Shell, order: string): Promise<readonly string[]> {
  const { rows } = JSON.parse((await shell.run('outbox', 'ls', '--json')).stdout) as {
    rows: readonly { readonly orderId: string; readonly type: string }[];
  };
  return rows
    .filter(({ orderId }) => orderId === order)
    .map(({ type }) => type)
    .toSorted();
}

async function ordersIn(shell: Shell): Promise<number> {
  const orders: readonly unknown[] = JSON.parse((await shell.run('order', 'list', '--limit', '1000', '--json')).stdout);
  return orders.length;
}
