import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseUpstreams } from '@shop/kit/upstreams.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createUpstreamsWriter, type Route, upstreamsFile, upstreamsFolder, upstreamsOf } from './upstreams-file.ts';

const routeTo = (edge: string, instance: string, port: number): Route => ({
  edge,
  instance,
  primary: `127.0.0.1:${port}`,
  standby: `127.0.0.1:${port + 1000}`,
});
const routes: readonly Route[] = [
  routeTo('gateway-orders', 'orders-1', 4001),
  routeTo('gateway-orders', 'orders-2', 4002),
  { edge: 'orders-db', primary: '127.0.0.1:5501', standby: '127.0.0.1:5432' },
];
const usual = { joining: new Set<string>(), draining: new Set<string>(), isOnStandby: () => false };
const defaults = { weight: 100, track: 'stable', state: 'active' };

describe('what is announced to callers', () => {
  it('has each edge with its replicas, and the address alone of a component', () => {
    expect(upstreamsOf(routes, usual)).toEqual({
      version: 1,
      edges: {
        'gateway-orders': [
          { address: '127.0.0.1:4001', instance: 'orders-1', ...defaults },
          { address: '127.0.0.1:4002', instance: 'orders-2', ...defaults },
        ],
        'orders-db': [{ address: '127.0.0.1:5501', ...defaults }],
      },
    });
  });

  it('is read by services as it was meant', () => {
    const upstreams = upstreamsOf(routes, { ...usual, draining: new Set(['orders-2']) });
    expect(parseUpstreams(JSON.stringify(upstreams))).toEqual(upstreams);
  });

  it('marks a replica that is drained, and leaves out one that was never ready', () => {
    const { edges } = upstreamsOf(routes, {
      ...usual,
      draining: new Set(['orders-1']),
      joining: new Set(['orders-2']),
    });
    expect(edges['gateway-orders']).toMatchObject([{ instance: 'orders-1', state: 'draining' }]);
  });

  it('leaves out a replica that drains and is held: requests that name its track would go on to reach it', () => {
    const held = new Map([['orders-2', { track: 'canary', weight: 0 } as const]]);
    const instancesOf = (draining: readonly string[], all = routes) =>
      upstreamsOf(all, { ...usual, shares: held, draining: new Set(draining) }).edges['gateway-orders']?.map(
        ({ instance }) => instance,
      );
    expect(instancesOf([])).toEqual(['orders-1', 'orders-2']);
    expect(instancesOf(['orders-2'])).toEqual(['orders-1']);
    // A consumer reads there that it is to take no messages.
    const deliveries = routes.map((route) => ({ ...route, isDelivery: true as const }));
    expect(instancesOf(['orders-2'], deliveries)).toEqual(['orders-1', 'orders-2']);
  });

  it('leads past the proxy on an edge that is rerouted, and on no other', () => {
    const { edges } = upstreamsOf(routes, { ...usual, isOnStandby: (edge) => edge === 'orders-db' });
    expect(edges['orders-db']).toMatchObject([{ address: '127.0.0.1:5432' }]);
    expect(edges['gateway-orders']?.[0]).toMatchObject({ address: '127.0.0.1:4001' });
  });

  it('leaves out an edge whose address the format cannot hold', () => {
    const broker = { edge: 'orders-broker', primary: '::1:5672', standby: '::1:5672' };
    expect(Object.keys(upstreamsOf([...routes, broker], usual).edges)).toEqual(['gateway-orders', 'orders-db']);
  });
});

describe('the file of upstreams', () => {
  let stateDir: string;
  beforeEach(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'shop-upstreams-'));
  });
  afterEach(() => rm(stateDir, { recursive: true }));

  it('is written when it changes, for its user alone', async () => {
    const file = upstreamsFile(upstreamsFolder({ stateDir }));
    const { write } = createUpstreamsWriter(file);
    const first = upstreamsOf(routes, usual);
    expect(await Promise.all([write(first), write(first)])).toEqual([true, false]);
    expect(parseUpstreams(await readFile(file, 'utf8'))).toEqual(first);
    const { mtimeMs } = await stat(file);
    expect(await write(first)).toBe(false);
    expect((await stat(file)).mtimeMs).toBe(mtimeMs);
    expect(await write(upstreamsOf(routes.slice(1), usual))).toBe(true);
    expect(await Promise.all([file, dirname(file)].map(async (path) => (await stat(path)).mode & 0o777))).toEqual([
      0o600, 0o700,
    ]);
  });
});
