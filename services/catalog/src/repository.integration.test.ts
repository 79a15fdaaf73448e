import { type Database, openDatabase } from '@shop/kit/database.ts';
import { createLogger } from '@shop/kit/logger.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../../test/support/infrastructure.ts';
import type { Products } from './products.ts';
import { createProducts } from './repository.ts';

let database: Database;
let ownerUrl: string;
let products: Products;

beforeAll(async () => {
  const { url, ownerUrl: owner } = await createDatabase('catalog');
  ownerUrl = owner;
  const logger = createLogger({ service: 'catalog', instance: 'catalog-test', level: 'silent' });
  database = openDatabase({ url, poolSize: 2, applicationName: 'catalog-test', logger });
  products = createProducts(database, async () => undefined);
}, START_TIMEOUT_MS);

afterAll(() => database[Symbol.asyncDispose]());

describe('products', () => {
  it('are found by id, their price an exact integer', async () => {
    expect(await products.find(11)).toEqual({ id: 11, name: 'Concert bandura', price: 5_000_000, currency: 'UAH' });
    expect(await products.find(13)).toBeUndefined();
  });

  it.each([0, -1])('cannot cost %i kopiykas: an order of them could not be charged', async (price) => {
    const client = new pg.Client({ connectionString: ownerUrl });
    await client.connect();
    const insert = client.query(
      `INSERT INTO products (id, name, price_kopiykas, currency) VALUES (99, 'Gift', $1, 'UAH')`,
      [price],
    );
    await expect(insert.finally(() => client.end())).rejects.toThrow('violates check constraint');
  });

  it('are listed by id', async () => {
    expect((await products.list()).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });
});
