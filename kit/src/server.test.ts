import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createHealth } from './health.ts';
import { createHttpClient } from './http-client.ts';
import { createLogger } from './logger.ts';
import { createServer, REQUESTS_PER_CONNECTION } from './server.ts';

it('ends a connection after a number of requests, and loses none of them', { timeout: 60_000 }, async () => {
  const logger = createLogger({ service: 'test', instance: 'test-1', level: 'silent' });
  await using server = createServer({ logger, health: createHealth({}) });
  let connections = 0;
  server.server.on('connection', () => {
    connections++;
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  await using client = createHttpClient('test-server', [`http://127.0.0.1:${port}`]);

  const attempt = { signal: new AbortController().signal, timeoutMs: 5_000, number: 1 };
  for (let request = 0; request < 2 * REQUESTS_PER_CONNECTION + 1; request++) {
    const { status } = await client.send({ method: 'GET', path: '/health/live' }, attempt);
    expect(status).toBe(200);
  }
  expect(connections).toBe(3);
});
