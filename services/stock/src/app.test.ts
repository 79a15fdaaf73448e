import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client, ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ReplyDroppedError } from '@shop/kit/failpoints.ts';
import { DatabaseUnavailableError } from '@shop/kit/failures.ts';
import { grpc, loadProto } from '@shop/kit/grpc.ts';
import { createHealth } from '@shop/kit/health.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createApp } from './app.ts';
import { KeyReusedError } from './reservation.ts';
import type { Stock } from './stock.ts';
import { requireUnbundled } from './unbundled.ts';

const orderId = '0198c9a0-0000-7000-8000-0000000000aa';
const request = { orderId, idempotencyKey: `${orderId}:reserve`, lines: [{ productId: 1, quantity: 2 }] };
const logger = createLogger({ service: 'stock', instance: 'stock-test', level: 'silent' });
const { service: healthService } = requireUnbundled<typeof import('grpc-health-check')>('grpc-health-check');
const reserves: Stock = { reserve: async () => ({ outcome: 'reserved' }), release: async () => true };
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const one of opened.splice(0).reverse()) await one.close();
});

type Calls = Client & Record<string, (...args: unknown[]) => unknown>;

async function aStock({ stock = reserves, isReady = true }: { stock?: Stock; isReady?: boolean } = {}) {
  const check = async () => {
    if (!isReady) throw new Error('unavailable');
  };
  const health = createHealth({ database: check });
  const app = createApp({ stock, health, logger });
  const port = await app.listen({ host: '127.0.0.1', port: 0 });
  opened.push({ close: () => app.close(100) });
  const connect = (definition: object): Calls => {
    const Constructor = grpc.makeGenericClientConstructor(definition as never, 'client');
    const client = new Constructor(`127.0.0.1:${port}`, grpc.credentials.createInsecure()) as unknown as Calls;
    opened.push(client);
    return client;
  };
  const inventory = connect(loadProto('stock.proto')['stock.Inventory'] as object);
  return { app, health, inventory, connect };
}

function call(client: Calls, method: string, body: object, options: object = {}): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    client[method]?.(body, options, (error: ServiceError | null, response: Record<string, unknown>) =>
      error === null ? resolve(response) : reject(error),
    );
  });
}

describe('stock.Inventory', () => {
  it.each([
    [{ outcome: 'reserved' }, { outcome: 'RESERVE_OUTCOME_RESERVED', insufficientProductIds: [] }],
    [
      { outcome: 'insufficient', productIds: [3, 10] },
      { outcome: 'RESERVE_OUTCOME_INSUFFICIENT', insufficientProductIds: [3, 10] },
    ],
    [{ outcome: 'released' }, { outcome: 'RESERVE_OUTCOME_RELEASED', insufficientProductIds: [] }],
  ] as const)('responds to Reserve with status OK for %j', async (outcome, expected) => {
    const { inventory } = await aStock({ stock: { ...reserves, reserve: async () => outcome } });
    expect(await call(inventory, 'Reserve', request)).toEqual(expected);
  });

  it('responds to Release with whether units were put back', async () => {
    const { inventory } = await aStock();
    expect(await call(inventory, 'Release', { orderId, idempotencyKey: 'k' })).toEqual({ released: true });
  });

  it.each([
    ['no order id', { ...request, orderId: '' }],
    ['an order id that is not a GUID', { ...request, orderId: 'order-1' }],
    ['no key', { ...request, idempotencyKey: '' }],
    ['NUL in the key', { ...request, idempotencyKey: 'a\u0000b' }],
    ['a lone surrogate in the key, which is not UTF-8', { ...request, idempotencyKey: 'a\ud800' }],
    ['no lines', { ...request, lines: [] }],
    ['quantity 0', { ...request, lines: [{ productId: 1, quantity: 0 }] }],
    ['a negative quantity', { ...request, lines: [{ productId: 1, quantity: -1 }] }],
    ['101 lines', { ...request, lines: Array.from({ length: 101 }, () => request.lines[0]) }],
  ])('refuses %s with INVALID_ARGUMENT', async (_title, body) => {
    const { inventory } = await aStock();
    await expect(call(inventory, 'Reserve', body)).rejects.toMatchObject({ code: grpc.status.INVALID_ARGUMENT });
  });

  it.each([
    [new DatabaseUnavailableError('connect ECONNREFUSED 127.0.0.1:5432'), grpc.status.UNAVAILABLE],
    [new KeyReusedError('the key was used'), grpc.status.ALREADY_EXISTS],
    [new Error('column "on_hand" does not exist'), grpc.status.INTERNAL],
  ])('responds to %s with its status and no internal details', async (error, code) => {
    const { inventory } = await aStock({ stock: { ...reserves, reserve: () => Promise.reject(error) } });
    const failure = await call(inventory, 'Reserve', request).catch((reason: unknown) => reason as ServiceError);
    expect(failure).toMatchObject({ code });
    expect(String(failure.details)).not.toMatch(/127\.0\.0\.1|on_hand/);
  });

  it('does not take the wall clock for the time its caller has', async () => {
    const inAnHour: Stock['reserve'] = async (_request, stillWanted) => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
      stillWanted();
      return { outcome: 'reserved' };
    };
    const { inventory } = await aStock({ stock: { ...reserves, reserve: inAnHour } });
    const response = await call(inventory, 'Reserve', request, { deadline: Date.now() + 5_000 });
    expect(response).toMatchObject({ outcome: 'RESERVE_OUTCOME_RESERVED' });
  });

  it('sends nothing when a failpoint loses its response: the caller waits until its deadline', async () => {
    const lost: Stock['reserve'] = () => Promise.reject(new ReplyDroppedError('failpoint'));
    const { inventory } = await aStock({ stock: { ...reserves, reserve: lost } });
    const beganAt = performance.now();
    const failure = await call(inventory, 'Reserve', request, { deadline: Date.now() + 200 }).catch(
      (reason: unknown) => reason as ServiceError,
    );
    expect(failure).toMatchObject({ code: grpc.status.DEADLINE_EXCEEDED });
    expect(performance.now() - beganAt).toBeGreaterThan(150);
    expect(await call(inventory, 'Release', { orderId, idempotencyKey: 'k' })).toEqual({ released: true });
  });

  it('cancels the work when the caller no longer waits', async () => {
    let left: unknown;
    let began: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      began = resolve;
    });
    const ended = Promise.withResolvers<void>();
    const slow: Stock['reserve'] = async (_request, stillWanted) => {
      began();
      await expect.poll(() => attempt(stillWanted), { timeout: 2_000, interval: 5 }).toBeInstanceOf(Error);
      left = attempt(stillWanted);
      ended.resolve();
      return { outcome: 'reserved' };
    };
    const { inventory } = await aStock({ stock: { ...reserves, reserve: slow } });
    const failure = call(inventory, 'Reserve', request, { deadline: Date.now() + 150 }).catch(
      (error: unknown) => error,
    );
    await begun;
    expect(await failure).toMatchObject({ code: grpc.status.DEADLINE_EXCEEDED });
    await ended.promise;
    expect(left).toMatchObject({ name: 'AbandonedError' });
  });
});

function attempt(work: () => void): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('health and reflection', () => {
  it.each([
    [true, 'SERVING'],
    [false, 'NOT_SERVING'],
  ])('grpc.health.v1 responds for readiness %s with %s', async (isReady, status) => {
    const { connect } = await aStock({ isReady });
    const health = connect(healthService);
    expect(await call(health, 'check', { service: '' })).toMatchObject({ status });
    expect(await call(health, 'check', { service: 'stock.Inventory' })).toMatchObject({ status });
  });

  it('serves readiness over HTTP as well, naming unavailable dependencies', async () => {
    const { app } = await aStock({ isReady: false });
    const response = await app.healthServer.inject({ method: 'GET', url: '/health/ready' });
    expect(response.statusCode).toBe(503);
    expect(response.json()).toMatchObject({ dependencies: [{ name: 'database', status: 'down' }] });
    expect((await app.healthServer.inject({ method: 'GET', url: '/health/live' })).statusCode).toBe(200);
  });

  it('lists its service by reflection', async () => {
    const { connect } = await aStock();
    const reflection = connect(reflectionService());
    const stream = reflection.serverReflectionInfo?.() as ClientReadableStream<unknown> & {
      write(m: object): void;
      end(): void;
    };
    const listed = new Promise<{ listServicesResponse?: { service: { name: string }[] } }>((resolve, reject) => {
      stream.once('data', resolve).once('error', reject);
    });
    stream.write({ listServices: '' });
    const response = await listed;
    stream.end();
    expect(response.listServicesResponse?.service.map(({ name }) => name)).toContain('stock.Inventory');
  });

  it('ends although a health watcher stays connected, after a notice to it', async () => {
    const { app, health, connect } = await aStock();
    const watcher = connect(healthService).watch?.({ service: '' }) as ClientReadableStream<{ status: string }>;
    const statuses: string[] = [];
    watcher.on('data', ({ status }) => statuses.push(status)).on('error', () => undefined);
    await expect.poll(() => statuses).toEqual(['SERVING']);
    health.drain();
    await app.close(200);
    await expect.poll(() => statuses).toEqual(['SERVING', 'NOT_SERVING']);
    opened.splice(0, 1);
  });
});

/** The reflection service's own definition, as its package ships it. */
function reflectionService(): object {
  const folder = dirname(fileURLToPath(import.meta.resolve('@grpc/reflection')));
  const file = join(folder, '../proto/grpc/reflection/v1/reflection.proto');
  return loadSync(file)['grpc.reflection.v1.ServerReflection'] as object;
}
