/*
 * Goal: a witness that sees a fault where there is none is worthless. Method: servers without any proxy, each fault's
 * witness aimed at them, with parameters that a canary could measure.
 */
import { createServer, type Server } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { type AddressInfo, createServer as createNetServer, type Server as NetServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { canary, type Protocol } from '../canary.ts';
import { findFault } from '../catalog.ts';
import { recordEdge } from '../edge.ts';
import type { PlatformAccess } from '../platform-access.ts';

let http: Server;
let grpc: NetServer;
beforeAll(async () => {
  http = createServer((_, response) => response.end('x'.repeat(100)));
  grpc = createHttp2Server();
  for (const server of [http, grpc]) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  http.close();
  http.closeAllConnections();
  grpc.close();
});

const platform = {} as PlatformAccess;

function witnessWithoutFault(name: string, parameters: object, protocol: Protocol) {
  return witnessOf(protocol === 'http' ? http : grpc, name, parameters, protocol);
}

async function witnessOf(server: NetServer, name: string, parameters: object, protocol: Protocol) {
  const { port } = server.address() as AddressInfo;
  const listen = `127.0.0.1:${port}`;
  const before = await canary(listen, protocol, { limitMs: 1_000 });
  const edge = { listen, upstream: listen, proxy: 'edge', apiUrl: '', protocol, before };
  const injection = { id: 'x', target: 'edge', parameters };
  return findFault(name).witness(injection, name === 'down' ? edge : { edge, toxic: 'x' }, platform);
}

it.each([
  ['latency', { latency: 500 }, 'http'],
  ['latency', { latency: 500, jitter: 100 }, 'grpc'],
  ['latency', { latency: 500, stream: 'upstream' }, 'http'],
  ['latency', { latency: 200, jitter: 200 }, 'http'],
  ['latency', { latency: 100, jitter: 300 }, 'grpc'],
  ['bandwidth', { rate: 1 }, 'http'],
  ['bandwidth', { rate: 10, stream: 'upstream' }, 'http'],
  ['slow_close', { delay: 500 }, 'http'],
  ['slow_close', { delay: 500 }, 'grpc'],
  ['timeout', { timeout: 0 }, 'http'],
  ['timeout', { timeout: 100 }, 'http'],
  ['timeout', { timeout: 0 }, 'grpc'],
  ['partition', {}, 'http'],
  ['partition', {}, 'grpc'],
  ['reset_peer', { timeout: 0 }, 'http'],
  ['slicer', { averageSize: 20, delay: 20 }, 'http'],
  ['slicer', { averageSize: 16, delay: 20 }, 'grpc'],
  ['limit_data', { bytes: 500 }, 'http'],
  ['limit_data', { bytes: 500, stream: 'upstream' }, 'http'],
  ['down', {}, 'http'],
  ['down', {}, 'grpc'],
] as const)('%s %j over %s is not observed where nothing was injected', async (name, parameters, protocol) => {
  expect((await witnessWithoutFault(name, parameters, protocol)).verdict).toBe('not_observed');
});

it('a delay shorter than the latency of the edge itself is not observed', async () => {
  const slow = createServer((_, response) => setTimeout(() => response.end('x'), 500));
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  try {
    expect((await witnessOf(slow, 'latency', { latency: 400 }, 'http')).verdict).toBe('not_observed');
  } finally {
    slow.close();
    slow.closeAllConnections();
  }
});

/*
 * What a caller sees of Toxiproxy's slow_close when it reads late: the close comes `delay` after the request, the last byte
 * shortly before it.
 */
it.each([
  ['as long before the close as it was held', [0]],
  ['in the first half of the delay', [200]],
  ['hardly before the close, the first time', [480, 0]],
])('slow_close is observed where the last byte is read %s', async (_, readLateMs) => {
  const delay = 500;
  const looks = [...readLateMs];
  const held = createNetServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (request) => {
      // The look before the fault: it keeps its connection, and ends it.
      if (String(request).includes('keep-alive')) return void socket.end('HTTP/1.1 200 OK\r\n\r\n');
      setTimeout(() => socket.write('HTTP/1.1 200 OK\r\n\r\n'), looks.shift());
      setTimeout(() => socket.end(), delay + 5);
    });
  });
  await new Promise<void>((resolve) => held.listen(0, '127.0.0.1', resolve));
  try {
    expect(await witnessOf(held, 'slow_close', { delay }, 'http')).toMatchObject({ verdict: 'observed' });
    expect(looks).toEqual([]);
  } finally {
    held.close();
  }
});

it('a late response without slow_close is not observed', async () => {
  const slow = createServer((_, response) => setTimeout(() => response.end('x'), 700));
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  try {
    expect(await witnessOf(slow, 'slow_close', { delay: 600 }, 'http')).toMatchObject({ verdict: 'not_observed' });
  } finally {
    slow.close();
    slow.closeAllConnections();
  }
});

it('an edge whose first response comes late is known to have served before the fault', async () => {
  const looks = [1_200];
  const late = createServer((_, response) => setTimeout(() => response.end('x'), looks.shift() ?? 0));
  await new Promise<void>((resolve) => late.listen(0, '127.0.0.1', resolve));
  const listen = `127.0.0.1:${(late.address() as AddressInfo).port}`;
  const state = {
    toxiproxyUrl: 'http://127.0.0.1:1',
    edges: [{ name: 'edge', to: 'orders', listen, upstream: listen }],
  };
  try {
    const { before } = await recordEdge('edge', { state: () => state } as unknown as PlatformAccess);
    expect(before).toMatchObject({ ended: 'responded' });
  } finally {
    late.close();
    late.closeAllConnections();
  }
});

it('a fault that affects hardly any connection is not measurable', async () => {
  expect((await witnessWithoutFault('latency', { latency: 500, toxicity: 0.01 }, 'http')).verdict).toBe('unmeasurable');
});

it('what a canary cannot show is not measurable rather than observed', async () => {
  expect((await witnessWithoutFault('bandwidth', { rate: 1_000_000 }, 'http')).verdict).toBe('unmeasurable');
  expect((await witnessWithoutFault('slicer', { averageSize: 60_000, delay: 20 }, 'http')).verdict).toBe(
    'unmeasurable',
  );
  expect((await witnessWithoutFault('slow_close', { delay: 500, stream: 'upstream' }, 'http')).verdict).toBe(
    'unmeasurable',
  );
});
