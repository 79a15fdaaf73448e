import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { probeHealth } from './health-probe.ts';

const servers: { close(): void }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function aServiceResponding(status: number, body: string): Promise<number> {
  const server = createServer((_request, response) => response.writeHead(status).end(body));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const signal = AbortSignal.timeout(5_000);

it('is ready when our own process says so', async () => {
  const port = await aServiceResponding(200, JSON.stringify({ pid: 42, status: 'ready' }));
  await expect(probeHealth(port, 42, signal)).resolves.toEqual({});
});

it('resolves with the version and the track that the process says', async () => {
  const body = { pid: 42, status: 'ready', version: '1.2.3', track: 'canary', dependencies: [] };
  const port = await aServiceResponding(200, JSON.stringify(body));
  await expect(probeHealth(port, 42, signal)).resolves.toEqual({ version: '1.2.3', track: 'canary' });
});

it("does not take another process's word", async () => {
  const port = await aServiceResponding(200, JSON.stringify({ pid: 43, status: 'ready' }));
  await expect(probeHealth(port, 42, signal)).rejects.toThrow(`another program responds on port ${port}`);
});

it('names the dependency that is down', async () => {
  const dependencies = [
    { name: 'database', status: 'down', reason: 'ECONNREFUSED' },
    { name: 'broker', status: 'up' },
  ];
  const port = await aServiceResponding(503, JSON.stringify({ pid: 42, status: 'not ready', dependencies }));
  await expect(probeHealth(port, 42, signal)).rejects.toThrow('database is down (ECONNREFUSED)');
});
