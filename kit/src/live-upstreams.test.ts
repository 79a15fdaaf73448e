import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LiveUpstreams, openUpstreams, urlAt } from './live-upstreams.ts';
import { createLogger } from './logger.ts';
import { upstreamAt } from './upstreams.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const soon = { timeout: 5_000, interval: 25 };
let folder: string;
let file: string;
let upstreams: LiveUpstreams | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-upstreams-'));
  file = join(folder, 'upstreams.json');
});
afterEach(async () => {
  upstreams?.[Symbol.dispose]();
  upstreams = undefined;
  await rm(folder, { recursive: true });
});

/** Replaced atomically, as writers must. */
async function write(edges: object): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify({ version: 1, edges }));
  await rename(`${file}.new`, file);
}

describe('the upstreams of an edge', () => {
  it('are those of the environment without a file', () => {
    upstreams = openUpstreams(undefined, logger);
    expect(upstreams.edge('orders-payments').current).toBeUndefined();
  });

  it('are what the file says at the start', async () => {
    await write({ 'orders-payments': [{ address: '127.0.0.1:1' }] });
    upstreams = openUpstreams(file, logger);
    expect(upstreams.edge('orders-payments').current).toEqual([upstreamAt('127.0.0.1:1')]);
    expect(upstreams.edge('orders-catalog').current).toBeUndefined();
  });

  it('follow the file when it appears, changes and is removed', async () => {
    upstreams = openUpstreams(file, logger);
    const payments = upstreams.edge('orders-payments');
    const seen: unknown[] = [];
    payments.follow(() => seen.push(payments.current));
    await write({ 'orders-payments': [{ address: '127.0.0.1:1' }] });
    await expect.poll(() => seen.length, soon).toBe(1);
    await write({ 'orders-payments': [{ address: '127.0.0.1:2', weight: 7 }] });
    await expect.poll(() => seen.length, soon).toBe(2);
    await rm(file);
    await expect.poll(() => seen.length, soon).toBe(3);
    expect(seen).toEqual([[upstreamAt('127.0.0.1:1')], [{ ...upstreamAt('127.0.0.1:2'), weight: 7 }], undefined]);
  });

  it('report their own changes only, and none after they are left', async () => {
    upstreams = openUpstreams(file, logger);
    const seen: string[] = [];
    const left = upstreams.edge('orders-stock').follow(() => seen.push('stock'));
    left[Symbol.dispose]();
    upstreams.edge('orders-payments').follow(() => seen.push('payments'));
    upstreams.edge('orders-catalog').follow(() => seen.push('catalog'));
    await write({ 'orders-stock': [{ address: 'a:1' }], 'orders-catalog': [{ address: 'a:2' }] });
    await expect.poll(() => seen, soon).toEqual(['catalog']);
  });

  it('stay as they were when the file cannot be read, and the reason is logged without its text', async () => {
    await write({ 'orders-db': [{ address: '127.0.0.1:1' }] });
    const logged: unknown[] = [];
    const spy = { ...logger, info() {}, warn: (...line: unknown[]) => logged.push(line) };
    upstreams = openUpstreams(file, spy as unknown as typeof logger);
    await write({ 'orders-db': [{ address: 'postgres://orders:secret@127.0.0.1:5501' }] });
    await expect.poll(() => logged.length, soon).toBe(1);
    expect(JSON.stringify(logged)).toContain('/edges/orders-db/0/address must match');
    expect(JSON.stringify(logged)).not.toContain('secret');
    expect(upstreams.edge('orders-db').current).toEqual([upstreamAt('127.0.0.1:1')]);
  });
});

it.each([
  'postgres://orders:p%40ss@127.0.0.1:5501/orders',
  'postgresql://orders:p%40ss@db:5501/orders?sslmode=disable',
  'amqp://orders:p%40ss@127.0.0.1:5501/shop',
])('the URL %s changes its host and port only', (url) => {
  const at = (address: string) => urlAt(url, { current: [upstreamAt(address)], follow: () => new DisposableStack() });
  expect(at('other.shop:7')).toBe(url.replace(/@[^/]+/, '@other.shop:7'));
  expect(at('127.0.0.1:7').replace(':7/', ':5501/')).toBe(url.replace('@db', '@127.0.0.1'));
});
