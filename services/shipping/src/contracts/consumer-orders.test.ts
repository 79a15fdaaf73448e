/** What shipping reads of the events of orders, recorded with what settles a delivery. */
import { MatchersV3 } from '@pact-foundation/pact';
import type { ParsedOrderConfirmed } from '@shop/kit/events.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PactRecording, recordPact } from '../../../../test/support/pacts.ts';
import { backoffs, settle } from '../delivery.ts';
import type { Shipments } from '../repository.ts';

const { eachLike, integer, regex } = MatchersV3;
const logger = createLogger({ service: 'shipping', instance: 'shipping-test', level: 'silent' });
const uuidText = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
const messageId = '0198c9a0-0000-7000-8000-0000000000a1';
const orderId = '0198c9a0-0000-7000-8000-0000000000b1';
let recording: PactRecording;

beforeAll(async () => {
  recording = await recordPact('shipping', 'orders');
});
afterAll(() => recording[Symbol.asyncDispose]());

/** Settles one delivery; resolves with the settlement and what reached the shipments. */
async function delivered(content: unknown) {
  const received: ParsedOrderConfirmed[] = [];
  const shipments: Shipments = {
    receive: async (event) => received.push(event) > 0,
    find: async () => undefined,
  };
  const dependencies = {
    shipments,
    count: () => undefined,
    countEvent: () => undefined,
    recordDelay: () => undefined,
    logger,
    failpoint: async () => undefined,
    backoffs,
  };
  const delivery = { content: Buffer.from(JSON.stringify(content)), earlierDeliveries: 0 };
  return { settlement: await settle(delivery, dependencies, new AbortController().signal), received };
}

it.each([
  { type: 'order.confirmed', given: 'an order was confirmed' },
  { type: 'order.confirmed.v2', given: 'an order was confirmed while version 2 is published as well' },
])('$type names its message, its order and the lines to ship', async ({ type, given }) => {
  await recording.pact
    .addAsynchronousInteraction()
    .given(given)
    .expectsToReceive(type, (message) => {
      message.withJSONContent({
        id: regex(uuidText, messageId),
        type,
        data: {
          orderId: regex(uuidText, orderId),
          lines: eachLike({ productId: integer(1), quantity: integer(2) }),
        },
      });
    })
    .executeTest(async ({ contents }) => {
      const { settlement, received } = await delivered(contents.content);
      expect(settlement).toEqual({ kind: 'ack' });
      expect(received).toMatchObject([{ messageId, type, orderId, lines: [{ productId: 1, quantity: 2 }] }]);
    });
});

it('all of it is the committed contract', () => recording.expectCommitted());
