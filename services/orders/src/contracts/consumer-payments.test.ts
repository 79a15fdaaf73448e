/** What orders expects of payments, recorded with the client it uses: it reads the status alone. */
import { MatchersV3 } from '@pact-foundation/pact';
import { Deadline } from '@shop/kit/deadline.ts';
import { edges } from '@shop/kit/edges.ts';
import { createHttpClient } from '@shop/kit/http-client.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { createCallPolicy } from '@shop/kit/resilience.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PactRecording, RECORDING_LIMIT_MS, recordPact, unhurried } from '../../../../test/support/pacts.ts';
import { createPayments, type Payments } from '../payments-client.ts';

const { regex } = MatchersV3;
const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const headers = {
  accept: 'application/json',
  'shop-timeout-ms': regex('^\\d+$', '1000'),
};
let recording: PactRecording;

beforeAll(async () => {
  recording = await recordPact('orders', 'payments');
});
afterAll(() => recording[Symbol.asyncDispose]());

async function asking<T>(origin: string, ask: (payments: Payments) => Promise<T>): Promise<T> {
  await using client = createHttpClient('orders-payments', [origin]);
  return await ask(
    createPayments(
      client,
      createCallPolicy('orders-payments', unhurried(edges['orders-payments']), logger, client.replicas),
    ),
  );
}

/** Every case has a separate order, so that a provider can verify all of them on one database. */
const orderId = (number: number) => `0198c9a0-0000-7000-8000-00000000000${number}`;

describe('a charge', () => {
  it.each([
    { order: orderId(1), given: 'nothing is known of the order', amount: 90_000, status: 201, result: 'accepted' },
    { order: orderId(2), given: 'the order was charged 90000', amount: 90_000, status: 200, result: 'accepted' },
    { order: orderId(3), given: 'nothing is known of the order', amount: 5_000_001, status: 402, result: 'declined' },
    { order: orderId(4), given: 'the order was refunded', amount: 90_000, status: 409, result: 'voided' },
  ])('of $amount while $given gets $status: $result', async ({ order, given, amount, status, result }) => {
    await recording.pact
      .addInteraction()
      .given(given, { orderId: order })
      .uponReceiving(`a charge of ${amount} for order ${order}`)
      .withRequest('POST', '/payments', (request) => {
        request.headers(headers);
        request.jsonBody({ orderId: order, amount, currency: 'UAH', idempotencyKey: `${order}:charge` });
      })
      .willRespondWith(status)
      .executeTest(async ({ url }) => {
        const charge = { orderId: order, amountKopiykas: amount, currency: 'UAH' };
        expect(await asking(url, (payments) => payments.charge(charge, Deadline.after(RECORDING_LIMIT_MS)))).toBe(
          result,
        );
      });
  });
});

describe('a refund', () => {
  it.each([
    { order: orderId(5), given: 'the order was charged 90000' },
    { order: orderId(6), given: 'nothing is known of the order' },
    { order: orderId(7), given: 'the order was refunded' },
  ])('is taken while $given', async ({ order, given }) => {
    await recording.pact
      .addInteraction()
      .given(given, { orderId: order })
      .uponReceiving(`a refund of order ${order}`)
      .withRequest('POST', `/payments/${order}/refund`, (request) => {
        request.headers(headers);
        request.jsonBody({ idempotencyKey: `${order}:refund` });
      })
      .willRespondWith(200)
      .executeTest(async ({ url }) => {
        const refund = asking(url, (payments) => payments.refund(order, Deadline.after(RECORDING_LIMIT_MS)));
        await expect(refund).resolves.toBeUndefined();
      });
  });
});

it('all of it is the committed contract', () => recording.expectCommitted());
