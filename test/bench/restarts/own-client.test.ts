import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import type { ReadRecord } from '../../../scenarios/bench/read-record.ts';
import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import { startOwnClient } from './own-client.ts';

/** The client sends to a server with this listener until it has had `orders` outcomes. */
async function against(listener: RequestListener, orders = 8) {
  const server = createServer(listener);
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const placed: OrderRecord[] = [];
  const reads: ReadRecord[] = [];
  const enough = Promise.withResolvers<void>();
  const client = startOwnClient({
    gatewayUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    rate: 100,
    connections: 'mixed',
    phase: 'orders',
    keys: 'run',
    onOrder(record) {
      placed.push(record);
      if (placed.length === orders) enough.resolve();
    },
    onRead: (record) => reads.push(record),
  });
  await enough.promise;
  const pace = await client.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return { placed, reads, pace, connections };
}

const confirmed: RequestListener = (request, response) => {
  request.resume();
  response.setHeader('traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01');
  response.writeHead(request.method === 'POST' ? 201 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ id: 'order-1', status: 'Confirmed' }));
};

it('places each order once under a separate key, reads it back, and keeps half of the connections', async () => {
  const keys: unknown[] = [];
  const { placed, reads, pace, connections } = await against((request, response) => {
    if (request.method === 'POST') keys.push(request.headers['idempotency-key']);
    confirmed(request, response);
  });
  expect(pace).toEqual({ due: placed.length, late: expect.any(Number), dropped: 0 });
  expect(new Set(keys).size).toBe(placed.length);
  expect(keys.toSorted()).toEqual(placed.map(({ key }) => key).toSorted());
  expect(placed.every(({ expected, traceId }) => expected && traceId?.startsWith('0af7'))).toBe(true);
  expect(reads).toHaveLength(placed.length);
  expect(reads[0]).toMatchObject({ http: 200, wanted: 'Confirmed', status: 'Confirmed', orderId: 'order-1' });
  // Each order on a new connection, and its read, opened one; so did some of those on kept ones.
  expect(connections).toBe([...placed, ...reads].filter(({ opened }) => opened).length);
  const onNew = reads.filter(({ read }) => read === 'new');
  expect(onNew.every(({ opened }) => opened)).toBe(true);
  expect(reads.filter(({ read, opened }) => read === 'kept' && !opened)).not.toEqual([]);
});

it('repeats nothing when the connection is reset, and says how it failed', async () => {
  let requests = 0;
  const { placed, reads } = await against((request) => {
    requests += 1;
    request.socket.resetAndDestroy();
  });
  expect(requests).toBe(placed.length);
  expect(reads).toEqual([]);
  expect(new Set(placed.map(({ http, code, expected }) => `${http} ${code} ${expected}`))).toEqual(
    new Set(['0 ECONNRESET false']),
  );
});

it('takes a response that was cut off for none', async () => {
  const { placed } = await against((_, response) => {
    response.writeHead(201, { 'content-length': 100 });
    response.write('{"id":', () => response.socket?.resetAndDestroy());
  });
  expect(placed.every(({ http, code }) => http === 0 && code === 'ECONNRESET')).toBe(true);
});
