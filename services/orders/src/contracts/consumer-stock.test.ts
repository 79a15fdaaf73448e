/** What orders expects of stock, recorded with the client it uses: of a response it reads the outcome alone. */
import { Deadline } from '@shop/kit/deadline.ts';
import { edges } from '@shop/kit/edges.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { fixedReplicas } from '@shop/kit/replicas.ts';
import { createCallPolicy } from '@shop/kit/resilience.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GrpcRecording, recordGrpc } from '../../../../test/support/grpc-contracts.ts';
import { createStock, createStockReplica, type Stock, type StockReplica } from '../stock-client.ts';

const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const orderId = (number: number) => `0198c9a0-0000-7000-8000-00000000000${number}`;
const deadline = () => Deadline.after(5_000);
let recording: GrpcRecording;
let replica: StockReplica;
let stock: Stock;

beforeAll(async () => {
  recording = await recordGrpc('orders', 'stock', 'stock.Inventory');
  replica = createStockReplica(recording.address);
  stock = createStock(createCallPolicy('orders-stock', edges['orders-stock'], logger, fixedReplicas([replica])));
});
afterAll(async () => {
  await replica[Symbol.asyncDispose]();
  await recording[Symbol.asyncDispose]();
});

it.each([
  { order: orderId(1), given: 'nothing is known of the order', line: [1, 2], outcome: 'RESERVED', result: 'reserved' },
  { order: orderId(2), given: 'the order was reserved', line: [1, 2], outcome: 'RESERVED', result: 'reserved' },
  {
    order: orderId(3),
    given: 'nothing is known of the order',
    line: [10, 1_000],
    outcome: 'INSUFFICIENT',
    result: 'insufficient',
  },
  { order: orderId(4), given: 'the order was released', line: [1, 2], outcome: 'RELEASED', result: 'released' },
])('units of product $line are $result while $given', async ({ order, given, line, outcome, result }) => {
  const [productId, quantity] = line as [number, number];
  const response = { outcome: `RESERVE_OUTCOME_${outcome}` };
  recording.next({ description: `reserve ${quantity} of product ${productId} for order ${order}`, given, response });
  expect(await stock.reserve(order, [{ productId, quantity }], deadline())).toBe(result);
});

it.each([
  { order: orderId(5), given: 'the order was reserved' },
  { order: orderId(6), given: 'nothing is known of the order' },
  { order: orderId(7), given: 'the order was released' },
])('a release is taken while $given', async ({ order, given }) => {
  recording.next({ description: `release order ${order}`, given, response: {} });
  await expect(stock.release(order, deadline())).resolves.toBeUndefined();
});

it('all of it is the committed contract', () => recording.expectCommitted());
