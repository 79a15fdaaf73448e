import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { grpc } from '@shop/kit/grpc.ts';
import { expect, it } from 'vitest';
import { stockTarget } from './stock-target.ts';

it.each([
  ['127.0.0.1:9090', 'ipv4:127.0.0.1:9090'],
  ['stock:9090', 'dns:///stock:9090'],
  ['stock.shop.svc:9090', 'dns:///stock.shop.svc:9090'],
])('%s -> %s', (address, target) => {
  expect(stockTarget(address)).toBe(target);
});

it('gives targets that a channel connects to, an address and a name', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (const host of ['127.0.0.1', 'localhost']) {
    const client = new grpc.Client(stockTarget(`${host}:${port}`), grpc.credentials.createInsecure());
    const ready = new Promise((resolve) => client.waitForReady(Date.now() + 4_000, resolve));
    expect(await ready, host).toBeUndefined();
    client.close();
  }
  server.close();
});
