import { Deadline } from '@shop/kit/deadline.ts';
import { edges } from '@shop/kit/edges.ts';
import { PermanentError } from '@shop/kit/failures.ts';
import { openHttpReplicas } from '@shop/kit/http-replica.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { createCallPolicy } from '@shop/kit/resilience.ts';
import { expect, it } from 'vitest';
import { createCatalog } from './catalog-client.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });

/** What orders makes of this response of the catalog. */
function read(status: number, body: unknown) {
  const replicas = openHttpReplicas(['http://127.0.0.1:9']);
  const client = { replicas, send: async () => ({ status, body }), [Symbol.asyncDispose]: async () => undefined };
  const policy = createCallPolicy('orders-catalog', edges['orders-catalog'], logger, replicas);
  return createCatalog(client, policy).findProduct(1, Deadline.after(9_000));
}

it('reads a product, and ignores what it does not know', async () => {
  const body = { id: 1, name: 'Towel', price: 1, currency: 'UAH', weightG: 300 };
  expect(await read(200, body)).toEqual({ id: 1, priceKopiykas: 1, currency: 'UAH' });
  expect(await read(404, {})).toBeUndefined();
});

it.each([
  ['price that cannot be charged', { id: 1, price: 0, currency: 'UAH' }],
  ['negative price', { id: 1, price: -1, currency: 'UAH' }],
  ['price with a fraction', { id: 1, price: 1.5, currency: 'UAH' }],
  ['missing price', { id: 1, currency: 'UAH' }],
])('takes no product with a %s: nothing is ordered', async (_title, body) => {
  await expect(read(200, body)).rejects.toThrow(PermanentError);
});
