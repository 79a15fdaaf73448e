/** Payments against what its consumers expect of it: its real server on a real database. */
import { type Database, openDatabase } from '@shop/kit/database.ts';
import { createHealth } from '@shop/kit/health.ts';
import { createLogger } from '@shop/kit/logger.ts';
import type { HttpServer } from '@shop/kit/server.ts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../../../test/support/infrastructure.ts';
import { breaksOfPact, consumersOf } from '../../../../test/support/pacts.ts';
import { createApp } from '../app.ts';
import { createPayments } from '../payments.ts';
import { createPaymentStore } from '../repository.ts';

const logger = createLogger({ service: 'payments', instance: 'payments-test', level: 'silent' });
let database: Database;
let server: HttpServer;

// Anew for each test: the contract names its orders.
beforeEach(async () => {
  const { url } = await createDatabase('payments');
  database = openDatabase({ url, poolSize: 2, applicationName: 'payments-test', logger });
}, START_TIMEOUT_MS);
afterEach(async () => {
  await server.close();
  await database[Symbol.asyncDispose]();
});

/** What of the contract payments break; `change` makes them others, before they listen. */
async function breaks(change: (server: HttpServer) => void = () => undefined): Promise<readonly string[]> {
  const payments = createPayments(createPaymentStore(database), async () => undefined);
  server = createApp({ payments, health: createHealth({}), logger });
  change(server);
  const orderOf = (parameters: unknown) => (parameters as { orderId: string }).orderId;
  return breaksOfPact('orders', {
    provider: 'payments',
    baseUrl: await server.listen({ host: '127.0.0.1', port: 0 }),
    states: {
      'nothing is known of the order': async (parameters) =>
        void expect(await payments.find(orderOf(parameters))).toBeUndefined(),
      async 'the order was charged 90000'(parameters) {
        const orderId = orderOf(parameters);
        const charge = { orderId, idempotencyKey: `${orderId}:charge`, amount: 90_000, currency: 'UAH' };
        expect(await payments.charge(charge)).toMatchObject({ outcome: 'accepted' });
      },
      async 'the order was refunded'(parameters) {
        const orderId = orderOf(parameters);
        expect(await payments.refund(orderId, `${orderId}:refund`)).toMatchObject({ state: 'voided' });
      },
    },
  });
}

it('orders is the only consumer', () => {
  server = createApp({ payments: {} as never, health: createHealth({}), logger });
  expect(consumersOf('payments')).toEqual(['orders']);
});

it('are what orders expects', async () => expect(await breaks()).toEqual([]));

it.each<[string, (server: HttpServer) => void, string]>([
  ['answers a declined charge with 422', answering(402, 422), '402'],
  ['answers a repeated charge with 208', answering(200, 208), '200'],
  ['answers a void charge with 410', answering(409, 410), '409'],
  ['asks for the amount under another name', asking('amount', 'amountKopiykas'), '400'],
  ['asks for one more field', asking('none', 'cardToken'), '400'],
])('a change that %s fails this build', async (_title, change, where) => {
  const found = await breaks(change);
  expect(found).not.toEqual([]);
  expect(found.join()).toContain(where);
});

function answering(status: number, instead: number) {
  return (target: HttpServer) =>
    void target.addHook('onSend', async (_request, reply) => void (reply.statusCode === status && reply.code(instead)));
}

/** Payments whose charge has no `name` but needs `instead`. */
function asking(name: string, instead: string) {
  return (target: HttpServer) =>
    void target.addHook('preHandler', async (request, reply) => {
      const body = request.body as Record<string, unknown>;
      if (request.routeOptions.url !== '/payments' || instead in body) return;
      delete body[name];
      await reply.code(400).send();
    });
}
