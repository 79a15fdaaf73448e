/** Of stock's gRPC port, which passes from process to process. */
import { BoundSocket } from 'node:net';
import type { Client, ServiceError } from '@grpc/grpc-js';
import { grpc, loadProto } from '@shop/kit/grpc.ts';
import { expect, it } from 'vitest';
import { moduleAt, type Program, startProgram } from '../../../test/support/program.ts';

const id = '0198c9a0-0000-7000-8000-0000000000aa';
const request = { orderId: id, idempotencyKey: `${id}:reserve`, lines: [{ productId: 1, quantity: 1 }] };

/** A stock that responds with its process as the product that it lacks; the first `held` calls wait for SIGTERM. */
function aStock(descriptor: number, { held }: { held: number }): Program {
  return startProgram(
    `
    import { createHealth } from ${moduleAt('kit/src/health.ts')};
    import { createLogger } from ${moduleAt('kit/src/logger.ts')};
    import { createApp } from ${moduleAt('services/stock/src/app.ts')};
    const logger = createLogger({ service: 'stock', instance: 'stock-1', level: 'silent' });
    const response = { outcome: 'insufficient', productIds: [process.pid] };
    const leaving = new Promise((resolve) => process.once('SIGTERM', resolve));
    let held = ${held};
    const stock = {
      async reserve() {
        if (held-- > 0) await leaving;
        return response;
      },
    };
    const app = createApp({ stock, health: createHealth({}), logger });
    await app.listen({ fd: 3 });
    console.log(JSON.stringify({ pid: process.pid }));
    await leaving;
    await app.close(10_000);
    `,
    { inherits: [descriptor] },
  );
}

async function ready(stock: Program): Promise<number> {
  await expect.poll(() => stock.records(), { timeout: 20_000 }).toHaveLength(1);
  return stock.records()[0]?.pid as number;
}

it('calls on kept and on new connections fail in no handover, and one in flight has its response', {
  timeout: 60_000,
}, async () => {
  using socket = new BoundSocket({ host: '127.0.0.1' });
  const Inventory = grpc.makeGenericClientConstructor(loadProto('stock.proto')['stock.Inventory'] as never, 'client');
  const connect = () => new Inventory(`127.0.0.1:${socket.address().port}`, grpc.credentials.createInsecure());
  const reserve = (client: Client & Record<string, unknown>): Promise<number> =>
    new Promise((resolve, reject) => {
      const onResponse = (error: ServiceError | null, response: { insufficientProductIds: [number] }) =>
        error === null ? resolve(response.insufficientProductIds[0]) : reject(error);
      (client.Reserve as (...args: unknown[]) => void)(request, onResponse);
    });
  const [before, kept] = [aStock(socket.fd(), { held: 1 }), connect()];
  const first = await ready(before);
  const inFlight = reserve(kept);
  expect(await reserve(kept)).toBe(first);

  const after = aStock(socket.fd(), { held: 0 });
  const second = await ready(after);
  const outcomes: Record<string, Set<unknown>> = { kept: new Set(), new: new Set() };
  let isOver = false;
  const clients = Object.entries(outcomes).map(async ([kind, seen]) => {
    while (!isOver) {
      const client = kind === 'kept' ? kept : connect();
      seen.add(await reserve(client).catch((error: Error) => error.message));
      if (client !== kept) client.close();
    }
  });
  await before[Symbol.asyncDispose]();
  expect(await before.ended).toEqual({ code: 0, errors: '' });
  expect(await inFlight).toBe(first);
  await expect.poll(() => Object.values(outcomes).every((seen) => seen.has(second)), { timeout: 10_000 }).toBe(true);
  isOver = true;
  await Promise.all(clients);
  for (const seen of Object.values(outcomes))
    expect([...seen].filter((one) => one !== first && one !== second)).toEqual([]);
  kept.close();
  await after[Symbol.asyncDispose]();
});
