/** What orders expects of catalog, recorded with the client it uses. */
import { MatchersV3 } from '@pact-foundation/pact';
import { Deadline } from '@shop/kit/deadline.ts';
import { edges } from '@shop/kit/edges.ts';
import { createHttpClient } from '@shop/kit/http-client.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { createCallPolicy } from '@shop/kit/resilience.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PactRecording, RECORDING_LIMIT_MS, recordPact, unhurried } from '../../../../test/support/pacts.ts';
import { type Catalog, createCatalog } from '../catalog-client.ts';

const { integer, regex } = MatchersV3;
const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const headers = { accept: 'application/json', 'shop-timeout-ms': regex('^\\d+$', '1000') };
let recording: PactRecording;

beforeAll(async () => {
  recording = await recordPact('orders', 'catalog');
});
afterAll(() => recording[Symbol.asyncDispose]());

async function asking<T>(origin: string, ask: (catalog: Catalog) => Promise<T>): Promise<T> {
  await using client = createHttpClient('orders-catalog', [origin]);
  return await ask(
    createCatalog(
      client,
      createCallPolicy('orders-catalog', unhurried(edges['orders-catalog']), logger, client.replicas),
    ),
  );
}

it('a product that exists has its id, its price in kopiykas and its currency', async () => {
  await recording.pact
    .addInteraction()
    .given('product 1 exists')
    .uponReceiving('a request for product 1')
    .withRequest('GET', '/products/1', (request) => void request.headers(headers))
    .willRespondWith(200, (response) => {
      response.jsonBody({ id: 1, price: integer(45_000), currency: regex('^[A-Z]{3}$', 'UAH') });
    })
    .executeTest(async ({ url }) => {
      const product = await asking(url, (catalog) => catalog.findProduct(1, Deadline.after(RECORDING_LIMIT_MS)));
      expect(product).toEqual({ id: 1, priceKopiykas: 45_000, currency: 'UAH' });
    });
});

it('a product that does not exist is 404', async () => {
  await recording.pact
    .addInteraction()
    .given('product 999 does not exist')
    .uponReceiving('a request for product 999')
    .withRequest('GET', '/products/999', (request) => void request.headers(headers))
    .willRespondWith(404)
    .executeTest(async ({ url }) => {
      expect(
        await asking(url, (catalog) => catalog.findProduct(999, Deadline.after(RECORDING_LIMIT_MS))),
      ).toBeUndefined();
    });
});

it('all of it is the committed contract', () => recording.expectCommitted());
