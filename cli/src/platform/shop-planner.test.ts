// Goal: what a plan holds for a request: its units, which of them wait for which, and where the edges lead.
// Method: the real planner with external components (URLs), so that nothing has to be installed or started.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { edges, serviceNames } from '../topology/services.ts';
import { createEventLog } from './events.ts';
import type { Plan, Planner } from './plan.ts';
import { createPortAllocator, isFree } from './ports.ts';
import { cloneRoot, openProject } from './project.ts';
import { createShopPlanner } from './shop-planner.ts';
import type { Unit } from './unit.ts';

const urls = {
  SHOPCTL_POSTGRES_URL: 'postgres://admin:secret@127.0.0.1:15432/postgres',
  SHOPCTL_RABBITMQ_URL: 'amqp://shop:secret@127.0.0.1:15672/shop',
  SHOPCTL_TOXIPROXY_URL: 'http://127.0.0.1:18474',
};
const everything = { services: [], running: [], replicas: {}, providers: {}, direct: false };

let home: string;
const planners: Planner[] = [];
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'shop-plan-'));
});
afterEach(async () => {
  for (const planner of planners.splice(0)) await planner.close();
  await rm(home, { recursive: true });
});

async function planner(env: Readonly<Record<string, string>> = {}): Promise<Planner> {
  const allEnv = { ...urls, ...env, SHOPCTL_HOME: home, PATH: process.env.PATH ?? '' };
  const project = openProject('plan', cloneRoot(), allEnv);
  await mkdir(project.logDir, { recursive: true });
  const registry = { mark: 'mark', started: () => {}, ended: () => {} };
  const created = await createShopPlanner({
    project,
    ports: createPortAllocator({}),
    registry,
    events: createEventLog(),
    instances: () => [],
    env: allEnv,
    keptReleases: async () => [],
  });
  planners.push(created);
  return created;
}

const names = ({ units }: Plan) => units.map(({ name }) => name);
function unit({ units }: Plan, name: string): Unit {
  const found = units.find((one) => one.name === name);
  if (!found) throw new Error(`no ${name}`);
  return found;
}

describe('which units', () => {
  it('everything, when nothing is named', async () => {
    const plan = await (await planner()).plan(everything);
    expect(names(plan)).toEqual([...['rabbitmq', 'postgres', 'toxiproxy'], ...serviceNames.map((name) => `${name}-1`)]);
    expect(plan.edges.map(({ name }) => name)).toEqual(edges.map(({ name }) => name));
  });

  it('what is named and what it needs, and no gateway that is not there', async () => {
    const plan = await (await planner()).plan({ ...everything, services: ['stock'] });
    expect(names(plan)).toEqual(['postgres', 'toxiproxy', 'stock-1']);
    expect(plan.gatewayUrl).toBe('');
  });

  it('no Toxiproxy and no proxies when wired directly', async () => {
    const plan = await (await planner()).plan({ ...everything, direct: true });
    expect(names(plan)).not.toContain('toxiproxy');
    expect(plan).toMatchObject({ direct: true, edges: [] });
  });

  it('a proxy per replica of the target', async () => {
    const plan = await (await planner()).plan({ ...everything, replicas: { payments: 2 } });
    const toPayments = plan.edges.filter(({ to }) => to === 'payments');
    expect(toPayments.map(({ name }) => name)).toEqual(['orders-payments', 'orders-payments-2']);
    expect(new Set(toPayments.map(({ upstream }) => upstream)).size).toBe(2);
  });

  it('a route per edge and replica of its target, by the proxy first and past it in reserve', async () => {
    const plan = await (await planner()).plan({ ...everything, replicas: { payments: 2 } });
    const proxyOf = (name: string) => plan.edges.find((edge) => edge.name === name);
    expect(plan.routes.filter(({ edge }) => /^orders-(payments|db)$/.test(edge))).toEqual([
      ...['orders-payments', 'orders-payments-2'].map((name, index) => ({
        edge: 'orders-payments',
        instance: `payments-${index + 1}`,
        primary: proxyOf(name)?.listen,
        standby: proxyOf(name)?.upstream,
      })),
      { edge: 'orders-db', primary: proxyOf('orders-db')?.listen, standby: '127.0.0.1:15432' },
    ]);
  });

  it('the ways of callers that run to each replica of what is named, and none of their others', async () => {
    const one = await planner();
    const before = await one.plan(everything);
    const request = { ...everything, services: ['stock'], replicas: { stock: 2 }, running: serviceNames };
    const plan = await one.plan(request);
    expect(names(plan)).toEqual(['postgres', 'toxiproxy', 'stock-1', 'stock-2']);
    expect(plan.routes.map(({ edge, instance }) => [edge, instance])).toEqual([
      ['orders-stock', 'stock-1'],
      ['orders-stock', 'stock-2'],
      ['stock-db', undefined],
    ]);
    expect(plan.edges.map(({ name }) => name)).toEqual(['orders-stock', 'orders-stock-2', 'stock-db']);
    expect(before.routes).toContainEqual(plan.routes[0]);
  });

  it('a queue leads to each replica that takes messages from it', async () => {
    const plan = await (await planner()).plan({ ...everything, replicas: { shipping: 2 } });
    const addresses = ['shipping-1', 'shipping-2'].map((name) => `127.0.0.1:${unit(plan, name)?.ports.main}`);
    expect(plan.routes.filter(({ isDelivery }) => isDelivery)).toEqual(
      addresses.map((address, index) => ({
        edge: 'broker-shipping',
        instance: `shipping-${index + 1}`,
        primary: address,
        standby: address,
        isDelivery: true,
      })),
    );
  });

  it('routes without a proxy lead to the target either way', async () => {
    const { routes } = await (await planner()).plan({ ...everything, direct: true });
    expect(routes.map(({ edge }) => edge)).toEqual([...edges.map(({ name }) => name), 'broker-shipping']);
    expect(routes.filter(({ primary, standby }) => primary !== standby)).toEqual([]);
  });
});

describe('an inspector', () => {
  async function twoFreePorts(from: number): Promise<number> {
    for (let port = from; port < from + 1000; port += 2) {
      if ((await isFree(port)) && (await isFree(port + 1))) return port;
    }
    throw new Error(`no two free ports from ${from} on`);
  }

  const inspectors = ({ units }: Plan) =>
    Object.fromEntries(units.flatMap(({ name, inspector }) => (inspector ? [[name, inspector]] : [])));

  it('listens on loopback for each replica of the service, and for no other', async () => {
    const one = await planner();
    const plan = await one.plan({ ...everything, replicas: { orders: 2 }, inspect: { orders: null } });
    const found = inspectors(plan);
    expect(Object.keys(found)).toEqual(['orders-1', 'orders-2']);
    for (const address of Object.values(found)) expect(address).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(new Set(Object.values(found)).size).toBe(2);
    const again = await one.plan({ ...everything, replicas: { orders: 2 }, inspect: { orders: null } });
    expect(inspectors(again)).toEqual(found);
  });

  it('has the port that was asked for, the next replica the next one, also another one later', async () => {
    const one = await planner();
    for (const first of [await twoFreePorts(41_000), await twoFreePorts(42_000)]) {
      const plan = await one.plan({ ...everything, replicas: { orders: 2 }, inspect: { orders: first } });
      expect(inspectors(plan)).toEqual({ 'orders-1': `127.0.0.1:${first}`, 'orders-2': `127.0.0.1:${first + 1}` });
    }
  });

  it('restarts its service when it comes and when it goes, and nothing else', async () => {
    const one = await planner();
    const before = await one.plan(everything);
    const during = await one.plan({ ...everything, inspect: { orders: null } });
    const after = await one.plan(everything);
    const changed = names(before).filter((name) => unit(before, name).fingerprint !== unit(during, name).fingerprint);
    expect(changed).toEqual(['orders-1']);
    expect(unit(after, 'orders-1')).toMatchObject({ fingerprint: unit(before, 'orders-1').fingerprint });
    expect(inspectors(after)).toEqual({});
  });

  it('is refused where its port is taken, with the option that names another', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const start = (await planner()).plan({ ...everything, inspect: { orders: port } });
    await expect(start).rejects.toMatchObject({
      exitCode: 3,
      what: `port ${port} is taken`,
      next: expect.stringContaining('--inspect'),
    });
    taken.close();
  });

  it('is refused for a service that this start does not concern', async () => {
    const start = (await planner()).plan({ ...everything, services: ['catalog'], inspect: { orders: null } });
    await expect(start).rejects.toMatchObject({ exitCode: 2, what: 'orders cannot wait for a debugger' });
  });
});

describe('what waits for what', () => {
  it('services wait for the database and the proxies, and not for the slow broker', async () => {
    const plan = await (await planner()).plan(everything);
    expect(unit(plan, 'orders-1').waitsFor).toEqual(['postgres', 'toxiproxy']);
    expect(unit(plan, 'orders-1').dependsOn).toContain('rabbitmq');
  });
});

describe('fingerprints decide what is restarted', () => {
  it('are equal for an equal request', async () => {
    const one = await planner();
    const [first, second] = [await one.plan(everything), await one.plan(everything)];
    expect(second.units.map(({ fingerprint }) => fingerprint)).toEqual(
      first.units.map(({ fingerprint }) => fingerprint),
    );
  });

  it('stay for another replica of what a service calls, which its callers follow in the file of upstreams', async () => {
    const one = await planner();
    const [before, after] = [
      await one.plan(everything),
      await one.plan({ ...everything, replicas: { catalog: 2, stock: 2 } }),
    ];
    const changed = names(before).filter((name) => unit(before, name).fingerprint !== unit(after, name).fingerprint);
    expect(changed).toEqual([]);
  });

  it('change for what reaches its database and its broker another way', async () => {
    const one = await planner();
    const [before, after] = [await one.plan(everything), await one.plan({ ...everything, direct: true })];
    const changed = names(after).filter((name) => unit(before, name).fingerprint !== unit(after, name).fingerprint);
    expect(changed).toEqual(serviceNames.filter((name) => name !== 'gateway').map((name) => `${name}-1`));
  });

  it('hold no password', async () => {
    const plan = await (await planner()).plan(everything);
    expect(JSON.stringify(plan.units.map(({ fingerprint, detail }) => [fingerprint, detail]))).not.toContain('secret');
  });
});

describe("the gateway's port", () => {
  it('is shared by its replicas, each of which has another one for its health', async () => {
    const plan = await (await planner()).plan({ ...everything, replicas: { gateway: 2 } });
    const [one, other] = ['gateway-1', 'gateway-2'].map((name) => unit(plan, name));
    expect([one?.url, other?.url]).toEqual([plan.gatewayUrl, plan.gatewayUrl]);
    expect(one?.ports.main).toBe(other?.ports.main);
    expect(new Set([one, other].flatMap((each) => Object.values(each?.ports ?? {}))).size).toBe(3);
  });

  it('passes from process to process, unless a debugger has a port of the first', async () => {
    const one = await planner();
    expect(unit(await one.plan(everything), 'gateway-1').beside).toBe('process');
    expect(unit(await one.plan({ ...everything, inspect: { gateway: null } }), 'gateway-1').beside).toBeUndefined();
  });

  it('is the one that is asked for, and is kept', async () => {
    const one = await planner();
    const port = 20_810;
    expect(await one.plan({ ...everything, port })).toMatchObject({
      gatewayUrl: `http://127.0.0.1:${port}`,
      warnings: [],
    });
    expect(await one.plan(everything)).toMatchObject({ gatewayUrl: `http://127.0.0.1:${port}`, warnings: [] });
  });

  it('is any free one where 0 is asked for, which is not reported, and is kept', async () => {
    const one = await planner();
    const { gatewayUrl, warnings } = await one.plan({ ...everything, port: 0 });
    expect(gatewayUrl).not.toBe('http://127.0.0.1:8080');
    expect(warnings).toEqual([]);
    expect(await one.plan(everything)).toMatchObject({ gatewayUrl, warnings: [] });
  });

  it('is reported when the usual one is taken, once', async () => {
    const taken = createServer();
    // Another program, or another project of ours, may have it already.
    await new Promise<void>((resolve) => taken.once('error', () => resolve()).listen(8080, '127.0.0.1', resolve));
    const one = await planner();
    expect((await one.plan(everything)).warnings).toEqual([
      expect.stringMatching(/^port 8080 is taken: the gateway listens on \d+ \("shopctl up --port" chooses one\)$/),
    ]);
    expect((await one.plan(everything)).warnings).toEqual([]);
    taken.close();
  });
});

describe("a service's port", () => {
  it('is its own and passes from process to process, each of which has another one for its health', async () => {
    const one = await planner();
    const plan = await one.plan({ ...everything, replicas: { orders: 2 } });
    const replicas = ['orders-1', 'orders-2', 'stock-1', 'shipping-1'].map((name) => unit(plan, name));
    expect(replicas.map((each) => each?.beside)).toEqual(['process', 'process', 'process', 'process']);
    expect(new Set(replicas.flatMap((each) => Object.values(each?.ports ?? {}))).size).toBe(8);
  });

  it('does not where a debugger has a port of the first', async () => {
    const plan = await (await planner()).plan({ ...everything, inspect: { stock: null } });
    expect(unit(plan, 'stock-1').beside).toBeUndefined();
    expect(unit(plan, 'orders-1').beside).toBe('process');
  });
});

describe('a provider', () => {
  it('that serves already may be named again', async () => {
    const one = await planner();
    await one.plan(everything);
    expect(names(await one.plan({ ...everything, providers: { postgres: 'url' } }))).toContain('postgres');
  });

  it('is not changed while the platform runs, and the reason is reported', async () => {
    const one = await planner();
    await one.plan(everything);
    await expect(one.plan({ ...everything, providers: { postgres: 'embedded' } })).rejects.toMatchObject({
      what: 'postgres cannot be changed to "embedded" while the platform runs',
      next: expect.stringContaining('shopctl down'),
      code: 'restart_required',
    });
  });
});

describe('Jaeger', () => {
  const jaegers: Server[] = [];
  afterEach(() => {
    for (const jaeger of jaegers.splice(0)) jaeger.close().closeAllConnections();
  });

  it('is not in a plan unless it is asked for', async () => {
    expect(names(await (await planner()).plan(everything))).not.toContain('jaeger');
  });

  it('serves traces when its URL is given', async () => {
    const jaeger = createServer((request, response) => response.end(JSON.stringify({ askedFor: request.url })));
    jaegers.push(jaeger);
    await new Promise<void>((resolve) => jaeger.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(jaeger.address() as AddressInfo).port}`;
    const plan = await (await planner({ SHOPCTL_JAEGER_URL: url })).plan(everything);
    expect(names(plan)).toContain('jaeger');
    const response = await fetch(`${plan.telemetryUrl}/api/v3/services`);
    expect(await response.json()).toEqual({ askedFor: '/api/v3/services' });
  });
});

describe('Prometheus', () => {
  const url = 'http://127.0.0.1:19090/metrics/';
  const planned = async (request: object) =>
    (await planner({ SHOPCTL_PROMETHEUS_URL: url })).plan({ ...everything, ...request });

  it('is there where alerts are asked for, also in a plan for a part; its URL alone asks for nothing', async () => {
    expect(names(await planned({}))).not.toContain('prometheus');
    const plan = await planned({ alerts: true, services: ['stock'] });
    expect(names(plan)).toEqual(['postgres', 'toxiproxy', 'prometheus', 'stock-1']);
    expect(plan.alerts).toBe(true);
  });

  it('has an address for people, and nothing needs it', async () => {
    const plan = await planned({ alerts: true });
    expect(unit(plan, 'prometheus')).toMatchObject({ url: 'http://127.0.0.1:19090/metrics', isExtra: true });
    expect(plan.units.filter(({ dependsOn }) => dependsOn.includes('prometheus'))).toEqual([]);
  });

  it.each(['nonsense', 'http://user:hidden@127.0.0.1:19090'])(
    'is not at %s, which is said without its password',
    async (text) => {
      const one = await planner({ SHOPCTL_PROMETHEUS_URL: text });
      const error = await one.plan({ ...everything, alerts: true }).catch((reason: Error) => reason);
      expect(error).toMatchObject({
        code: 'invalid_configuration',
        what: expect.stringContaining('SHOPCTL_PROMETHEUS_URL'),
      });
      expect(JSON.stringify(error)).not.toContain('hidden');
    },
  );

  it('that is not available is said, with the way to get it', async () => {
    const one = await planner({ PATH: '/nowhere' });
    await expect(
      one.plan({ ...everything, alerts: true, providers: { prometheus: 'installed' } }),
    ).rejects.toMatchObject({
      exitCode: 3,
      why: expect.stringContaining('no "prometheus" on PATH'),
    });
  });
});
