import amqp from 'amqplib';
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TestBroker } from './broker.ts';
import { createBroker, createDatabase, START_TIMEOUT_MS } from './infrastructure.ts';
import type { TestDatabase } from './postgres.ts';
import { openTcpSwitch } from './tcp-switch.ts';

let catalog: TestDatabase;
let other: TestDatabase;
let stock: TestDatabase;
let broker: TestBroker;

beforeAll(async () => {
  [catalog, other, stock, broker] = await Promise.all([
    createDatabase('catalog'),
    createDatabase('catalog'),
    createDatabase('stock'),
    createBroker(),
  ]);
}, START_TIMEOUT_MS);

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

describe('createDatabase', () => {
  it('gives databases that are migrated, seeded, and apart from each other', async () => {
    await query(catalog.ownerUrl, 'DELETE FROM products WHERE id > 2');
    expect(await query(catalog.operatorUrl, 'SELECT count(*)::int AS products FROM products')).toEqual([
      { products: 2 },
    ]);
    expect(await query(other.url, 'SELECT count(*)::int AS products FROM products')).toEqual([{ products: 12 }]);
  });

  it("gives a service's role its own database only, and data only", async () => {
    const foreign = new URL(stock.url);
    foreign.pathname = new URL(catalog.url).pathname;
    await expect(query(foreign.href, 'SELECT 1')).rejects.toMatchObject({ code: '42501' });
    await expect(query(stock.url, 'DROP TABLE inventory')).rejects.toMatchObject({ code: '42501' });
    await expect(query(stock.operatorUrl, 'DELETE FROM inventory')).rejects.toMatchObject({ code: '42501' });
  });

  it('seeds the products of docs/architecture.md: one at the limit, one above, one scarce', async () => {
    const priced = await query(other.url, 'SELECT id FROM products WHERE price_kopiykas >= 5000000 ORDER BY id');
    expect(priced).toEqual([{ id: 11 }, { id: 12 }]);
    expect(await query(other.url, 'SELECT price_kopiykas FROM products WHERE id = 11')).toEqual([
      { price_kopiykas: '5000000' },
    ]);
    expect(await query(stock.url, 'SELECT product_id, on_hand FROM inventory WHERE on_hand < 1000000')).toEqual([
      { product_id: 10, on_hand: 10 },
    ]);
  });
});

describe('createBroker', () => {
  it('gives accounts that may touch the names of the platform only', async () => {
    const connection = await amqp.connect(broker.ordersUrl);
    const channel = await connection.createChannel();
    channel.on('error', () => undefined); // The refusal below closes the channel, which is what is expected.
    await channel.assertExchange('shop.events', 'topic', { durable: true });
    await expect(channel.assertQueue('something-else')).rejects.toThrow(/ACCESS_REFUSED/);
    await connection.close();
  });
});

describe('openTcpSwitch', () => {
  it('cuts and restores the way to a database', async () => {
    await using network = await openTcpSwitch(catalog.url);
    const url = network.through(catalog.url);
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await network.cut();
    await expect(query(url, 'SELECT 1')).rejects.toThrow(/ECONNREFUSED/);
    await network.restore();
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });
});
