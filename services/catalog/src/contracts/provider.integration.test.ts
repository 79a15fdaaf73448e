/** Catalog against what its consumers expect of it: its real server on a real database. */
import { type Database, openDatabase } from '@shop/kit/database.ts';
import { createHealth } from '@shop/kit/health.ts';
import { createLogger } from '@shop/kit/logger.ts';
import type { HttpServer } from '@shop/kit/server.ts';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../../../test/support/infrastructure.ts';
import { breaksOfPact, consumersOf } from '../../../../test/support/pacts.ts';
import { createApp } from '../app.ts';
import type { Products } from '../products.ts';
import { createProducts } from '../repository.ts';

const logger = createLogger({ service: 'catalog', instance: 'catalog-test', level: 'silent' });
let database: Database;
let server: HttpServer | undefined;

beforeAll(async () => {
  const { url } = await createDatabase('catalog');
  database = openDatabase({ url, poolSize: 2, applicationName: 'catalog-test', logger });
}, START_TIMEOUT_MS);
afterEach(() => server?.close());
afterAll(() => database[Symbol.asyncDispose]());

/** What of the contract a catalog breaks; `change` makes it another one, before it listens. */
async function breaks(change: (server: HttpServer) => void = () => undefined): Promise<readonly string[]> {
  const products: Products = createProducts(database, async () => undefined);
  const target = createApp({ products, health: createHealth({}), logger });
  server = target;
  change(target);
  return breaksOfPact('orders', {
    provider: 'catalog',
    baseUrl: await target.listen({ host: '127.0.0.1', port: 0 }),
    states: {
      'product 1 exists': async () => void expect(await products.find(1)).toBeDefined(),
      'product 999 does not exist': async () => void expect(await products.find(999)).toBeUndefined(),
    },
  });
}

it('orders is the only consumer', () => expect(consumersOf('catalog')).toEqual(['orders']));

it('is what orders expects', async () => expect(await breaks()).toEqual([]));

it.each<[string, (product: Record<string, unknown>) => object, string]>([
  ['renames the price', ({ price, ...product }) => ({ ...product, priceKopiykas: price }), 'price'],
  ['sends the price as text', (product) => ({ ...product, price: String(product.price) }), '$.price'],
  ['sends a price with a fraction', (product) => ({ ...product, price: Number(product.price) / 1_001 }), '$.price'],
  ['leaves the currency out', ({ currency: _gone, ...product }) => product, 'currency'],
])('a change that %s fails this build', { tags: ['deliberate-break'] }, async (_title, change, where) => {
  const found = await breaks((target) =>
    target.addHook('onSend', async (_request, reply, payload) =>
      reply.statusCode === 200 ? JSON.stringify(change(JSON.parse(String(payload)))) : payload,
    ),
  );
  expect(found).toEqual([expect.stringContaining(where)]);
});

it('a change that responds to an unknown product otherwise than 404 fails this build', {
  tags: ['deliberate-break'],
}, async () => {
  const found = await breaks((target) =>
    target.addHook('onSend', async (_request, reply) => void (reply.statusCode === 404 && reply.code(410))),
  );
  expect(found).toEqual([expect.stringContaining('410')]);
});

it('a change that adds a field does not', async () => {
  const found = await breaks((target) =>
    target.addHook('onSend', async (_request, reply, payload) =>
      reply.statusCode === 200 ? JSON.stringify({ ...JSON.parse(String(payload)), weightG: 300 }) : payload,
    ),
  );
  expect(found).toEqual([]);
});
