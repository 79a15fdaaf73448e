/** Payments against what its consumers expect of it: its real server on a real database. */
import { type Database, openDatabase } from '@shop/kit/database.ts';
import { createHealth } from '@shop/kit/health.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { createServer, type HttpServer } from '@shop/kit/server.ts';
import { type TSchema, Type } from 'typebox';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../../../test/support/infrastructure.ts';
import { breaksOfPact, consumersOf } from '../../../../test/support/pacts.ts';
import { createApp } from '../app.ts';
import { createPayments, type Payments } from '../payments.ts';
import { createPaymentStore } from '../repository.ts';
import { addRoutes } from '../routes.ts';

const logger = createLogger({ service: 'payments', instance: 'payments-test', level: 'silent' });
let database: Database;
let server: HttpServer;

// Again for each test: the contract names its orders.
beforeEach(async () => {
  const { url } = await createDatabase('payments');
  database = openDatabase({ url, poolSize: 2, applicationName: 'payments-test', logger });
}, START_TIMEOUT_MS);
afterEach(async () => {
  await server.close();
  await database[Symbol.asyncDispose]();
});

/** Creates the HTTP server of payments, not listening yet. */
type CreateServer = (payments: Payments) => HttpServer;
const today: CreateServer = (payments) => createApp({ payments, health: createHealth({}), logger });

/** What of the contract payments with that server break; today's where none is given. */
async function breaks(create: CreateServer = today): Promise<readonly string[]> {
  const payments = createPayments(createPaymentStore(database), async () => undefined);
  server = create(payments);
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
  server = today({} as never);
  expect(consumersOf('payments')).toEqual(['orders']);
});

it('are what orders expects', async () => expect(await breaks()).toEqual([]));

const charge = { orderId: '0198c9a0-0000-7000-8000-0000000000aa', currency: 'UAH', idempotencyKey: 'aa' };

it.each<[string, CreateServer, string]>([
  ['responds to a declined charge with 422', respondingWith(402, 422), '402'],
  ['responds to a repeated charge with 208', respondingWith(200, 208), '200'],
  ['responds to a void charge with 410', respondingWith(409, 410), '409'],
])('a change that %s fails this build', { tags: ['deliberate-break'] }, async (_title, create, where) => {
  const found = await breaks(create);
  expect(found).toEqual([expect.stringContaining(where)]);
});

it.each<[string, CreateServer, object]>([
  ['asks for the amount under another name', renaming('amount', 'amountKopiykas'), { amountKopiykas: 90_000 }],
  ['asks for one more field', requiring('cardToken', Type.String()), { amount: 90_000, cardToken: 'tok_1' }],
])('a change that %s fails this build', { tags: ['deliberate-break'] }, async (_title, create, asked) => {
  const found = await breaks(create);
  // Each of the four charges in the contract is refused, and no refund.
  expect(found).toHaveLength(4);
  for (const one of found) expect(one).toMatch(/a charge of .* but was 400/);
  // And by nothing else than what they lack: who asks in the changed way is served.
  const response = await server.inject({ method: 'POST', url: '/payments', payload: { ...charge, ...asked } });
  expect(response.statusCode, response.body).toBe(201);
});

function respondingWith(status: number, instead: number): CreateServer {
  return (payments) =>
    today(payments).addHook(
      'onSend',
      async ({ routeOptions: { url } }, reply) =>
        void (url === '/payments' && reply.statusCode === status && reply.code(instead)),
    );
}

type Fields = Readonly<Record<string, TSchema>>;

/** A charge's field is called `instead`, to callers. */
function renaming(name: string, instead: string): CreateServer {
  const rename = ({ [name]: field, ...others }: Fields) => ({ ...others, [instead]: field as TSchema });
  return (payments) =>
    withCharge(rename, {
      ...payments,
      charge: ({ [instead as 'amount']: value, ...others }) =>
        payments.charge({ ...others, [name as 'amount']: value }),
    });
}

/** A charge has one more field, which it must have. */
function requiring(name: string, schema: TSchema): CreateServer {
  return (payments) => withCharge((fields) => ({ ...fields, [name]: schema }), payments);
}

/** Today's routes, with another schema of a charge. */
function withCharge(change: (fields: Fields) => Fields, payments: Payments): HttpServer {
  const changed = createServer({ logger, health: createHealth({}) });
  changed.addHook('onRoute', (route) => {
    if (route.url !== '/payments' || route.schema === undefined) return;
    route.schema = {
      ...route.schema,
      body: Type.Object(change((route.schema.body as { properties: Fields }).properties)),
    };
  });
  addRoutes(changed, payments);
  return changed;
}
