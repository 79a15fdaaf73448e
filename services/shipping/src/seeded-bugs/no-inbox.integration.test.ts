import { randomUUID } from 'node:crypto';
import { type Database, openDatabase, sql } from '@shop/kit/database.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, START_TIMEOUT_MS } from '../../../../test/support/infrastructure.ts';
import { createShipments } from '../repository.ts';
import { withoutInbox } from './no-inbox.ts';

const logger = createLogger({ service: 'shipping', instance: 'shipping-test', level: 'silent' });
const lines = [{ productId: 1, quantity: 2 }];
const parcelsOf = sql('SELECT parcels: test', 'SELECT lines FROM parcels WHERE order_id = $1');
let database: Database;

beforeAll(async () => {
  const { url } = await createDatabase('shipping');
  database = openDatabase({ url, poolSize: 2, applicationName: 'shipping-test', logger });
}, START_TIMEOUT_MS);
afterAll(() => database[Symbol.asyncDispose]());

it.each([
  ['without a bug: the order is shipped once', false, [true, false], lines, 1],
  ['no-inbox: the order is shipped twice', true, [true, true], [...lines, ...lines], 2],
])('a message delivered twice, %s', async (_title, isSeeded, results, shipped, parcels) => {
  const real = createShipments(database, async () => undefined);
  const shipments = isSeeded ? withoutInbox(real, database) : real;
  const event = {
    messageId: randomUUID(),
    type: 'order.confirmed',
    time: undefined,
    orderId: randomUUID(),
    lines,
    total: 1,
    currency: 'UAH',
  };
  expect([await shipments.receive(event), await shipments.receive(event)]).toEqual(results);
  expect((await shipments.find(event.orderId))?.lines).toEqual(shipped);
  expect((await database.query(parcelsOf, [event.orderId])).rows).toEqual(Array(parcels).fill({ lines }));
});
