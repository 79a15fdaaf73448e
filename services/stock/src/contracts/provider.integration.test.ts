/** Stock against what orders expects of it: its real server on a real database. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Server, ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { type Database, openDatabase } from '@shop/kit/database.ts';
import { grpc, locate } from '@shop/kit/grpc.ts';
import { createHealth } from '@shop/kit/health.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { breaksOfGrpc, type GrpcStates, grpcConsumersOf } from '../../../../test/support/grpc-contracts.ts';
import { createDatabase, START_TIMEOUT_MS } from '../../../../test/support/infrastructure.ts';
import { createApp } from '../app.ts';
import { addInventory } from '../grpc.ts';
import { createStock, type Stock } from '../stock.ts';

const logger = createLogger({ service: 'stock', instance: 'stock-test', level: 'silent' });
const contract = { consumer: 'orders', provider: 'stock', service: 'stock.Inventory' };
let database: Database;
let stock: Stock;

// Again for each test: the contract names its orders.
beforeEach(async () => {
  const { url } = await createDatabase('stock');
  database = openDatabase({ url, poolSize: 2, applicationName: 'stock-test', logger });
  stock = createStock(database, async () => undefined);
}, START_TIMEOUT_MS);
afterEach(() => database[Symbol.asyncDispose]());

const states: GrpcStates = {
  'nothing is known of the order': async () => undefined,
  'the order was reserved': (orderId) =>
    stock.reserve({ orderId, idempotencyKey: `${orderId}:reserve`, lines: [{ productId: 1, quantity: 2 }] }, () => {}),
  'the order was released': (orderId) => stock.release({ orderId, idempotencyKey: `${orderId}:release` }, () => {}),
};

it('orders is the only consumer', () => expect(grpcConsumersOf('stock')).toEqual(['orders']));

it('is what orders expects', async () => {
  const app = createApp({ stock, health: createHealth({}), logger });
  const port = await app.listen({ host: '127.0.0.1', port: 0 });
  try {
    expect(await breaksOfGrpc(contract, `127.0.0.1:${port}`, states)).toEqual([]);
  } finally {
    await app.close(1_000);
  }
});

describe('stock with another schema', () => {
  /** What of the contract a stock breaks whose schema has `to` where it had `from`. */
  async function breaks(from: string, to: string): Promise<readonly string[]> {
    const server: Server = new grpc.Server();
    addInventory(server, await changedDefinition(from, to), stock, logger);
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      ),
    );
    try {
      return await breaksOfGrpc(contract, `127.0.0.1:${port}`, states);
    } finally {
      server.forceShutdown();
    }
  }

  async function changedDefinition(from: string, to: string): Promise<ServiceDefinition> {
    const text = await readFile(locate('stock.proto'), 'utf8');
    expect(text).toContain(from);
    const folder = await mkdtemp(join(tmpdir(), 'shop-proto-'));
    const file = join(folder, 'stock.proto');
    await writeFile(file, text.replace(from, to));
    try {
      const options = { keepCase: false, longs: Number, enums: String, defaults: true, arrays: true };
      return loadSync(file, options)['stock.Inventory'] as ServiceDefinition;
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  it.each([
    ['another number for the quantity', 'int32 quantity = 2;', 'int32 quantity = 3;', 'INVALID_ARGUMENT'],
    [
      'another type of the order id',
      'string order_id = 1;\n  string idempotency_key = 2;\n  repeated',
      'int64 order_id = 1;\n  string idempotency_key = 2;\n  repeated',
      'reserve 2 of product 1',
    ],
    [
      'another number for the outcome',
      'ReserveOutcome outcome = 1;',
      'ReserveOutcome outcome = 3;',
      'outcome is "RESERVE_OUTCOME_UNSPECIFIED"',
    ],
    ['other numbers for two outcomes', 'RESERVED = 1;', 'RESERVED = 4;', 'outcome is 4'],
    ['a method of another name', 'rpc Release(', 'rpc Cancel(', 'UNIMPLEMENTED'],
  ])('%s fails this build', { tags: ['deliberate-break'] }, async (_title, from, to, said) => {
    expect((await breaks(from, to)).join()).toContain(said);
  });

  it('one more field does not', async () => {
    expect(
      await breaks(
        'repeated int32 insufficient_product_ids = 2;',
        'repeated int32 insufficient_product_ids = 2;\n  string note = 3;',
      ),
    ).toEqual([]);
  });
});
