import type { handleUnaryCall, ServiceDefinition } from '@grpc/grpc-js';
import { Deadline } from '@shop/kit/deadline.ts';
import { edges } from '@shop/kit/edges.ts';
import { grpc, loadProto } from '@shop/kit/grpc.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { createCallPolicy } from '@shop/kit/resilience.ts';
import { afterEach, expect, it } from 'vitest';
import { createStock } from './stock-client.ts';

const ORDER_ID = '0198c9a0-0000-7000-8000-000000000001';
const logger = createLogger({ service: 'orders', instance: 'orders-test', level: 'silent' });
const opened: (() => unknown)[] = [];
afterEach(() => void opened.splice(0).map((close) => close()));

/** A stock service that takes calls and never answers, and how many ms it was given for each. */
async function aSilentStock() {
  const givenMs: number[] = [];
  const server = new grpc.Server();
  const service = loadProto('stock.proto')['stock.Inventory'] as ServiceDefinition;
  server.addService(service, {
    Reserve: ((call) => void givenMs.push(Number(call.getDeadline()) - Date.now())) satisfies handleUnaryCall<
      unknown,
      unknown
    >,
    Release: () => undefined,
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  opened.push(() => server.forceShutdown());
  const policy = createCallPolicy('orders-stock', edges['orders-stock'], logger);
  const stock = createStock([`127.0.0.1:${port}`], policy);
  opened.push(() => stock[Symbol.asyncDispose]());
  return { stock, policy, givenMs };
}

it('ends with its caller, and the breaker stays closed for all others', async () => {
  const { stock, policy, givenMs } = await aSilentStock();
  for (let call = 0; call < 8; call += 1) {
    await expect(stock.reserve(ORDER_ID, [], Deadline.after(40))).rejects.toMatchObject({ reason: 'timeout' });
  }
  expect(policy.state).toBe('closed');
  expect(Math.max(...givenMs)).toBeLessThanOrEqual(40);
});
