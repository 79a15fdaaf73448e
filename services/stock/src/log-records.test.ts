/** Of stock's gRPC methods, with no OTLP receiver to listen to them. */
import { grpc, loadProto } from '@shop/kit/grpc.ts';
import { expect, it } from 'vitest';
import { moduleAt, startProgram } from '../../../test/support/program.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

it('a failing call is logged with the trace id of its caller', async () => {
  await using stock = startProgram(
    `
    import { createHealth } from ${moduleAt('kit/src/health.ts')};
    import { createLogger } from ${moduleAt('kit/src/logger.ts')};
    import { createApp } from ${moduleAt('services/stock/src/app.ts')};
    const logger = createLogger({ service: 'stock', instance: 'stock-1', level: 'debug' });
    const later = () => new Promise((resolve) => setTimeout(resolve, 5));
    const stock = { async reserve() { await later(); throw new Error('broken'); } };
    const app = createApp({ stock, health: createHealth({}), logger });
    console.log(JSON.stringify({ port: await app.listen({ host: '127.0.0.1', port: 0 }) }));`,
    { preload: 'kit/src/telemetry/preload.ts' },
  );
  const port = () => stock.records().find((record) => 'port' in record)?.port;
  await expect.poll(port, { timeout: 20_000 }).toBeDefined();
  const Inventory = grpc.makeGenericClientConstructor(loadProto('stock.proto')['stock.Inventory'] as never, 'client');
  const client = new Inventory(`127.0.0.1:${port()}`, grpc.credentials.createInsecure());
  const metadata = new grpc.Metadata();
  metadata.set('traceparent', `00-${TRACE_ID}-b7ad6b7169203331-01`);
  const id = '0198c9a0-0000-7000-8000-0000000000aa';
  const request = { orderId: id, idempotencyKey: `${id}:reserve`, lines: [{ productId: 1, quantity: 1 }] };
  await new Promise((resolve) => client.Reserve?.(request, metadata, resolve));
  client.close();
  const traces = () => Object.fromEntries(stock.records().map(({ msg, trace_id }) => [msg, trace_id]));
  await expect.poll(traces).toMatchObject({ 'unexpected failure': TRACE_ID, 'request completed': TRACE_ID });
});
