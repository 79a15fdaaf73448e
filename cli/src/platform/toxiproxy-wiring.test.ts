import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { EdgeState } from './state.ts';
import { createProxyReconciler, type ProxyReconciler } from './toxiproxy-wiring.ts';

/** Responds as Toxiproxy does to the two requests that are made, and has the proxies by name. */
let toxiproxy: Server;
let url: string;
const proxies = new Set<string>();
let populated = 0;
let proxiesOf: ProxyReconciler;

beforeEach(async () => {
  proxies.clear();
  populated = 0;
  toxiproxy = createServer(async (request, response) => {
    const body = await text(request);
    if (request.method === 'DELETE') proxies.delete(String(request.url?.split('/').at(-1)));
    else {
      populated += 1;
      for (const { name } of JSON.parse(body) as EdgeState[]) proxies.add(name);
    }
    response.writeHead(request.method === 'DELETE' ? 204 : 201).end();
  });
  await new Promise<void>((resolve) => toxiproxy.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(toxiproxy.address() as AddressInfo).port}`;
  proxiesOf = createProxyReconciler();
});
afterEach(() => toxiproxy.close());

const edge = (name: string): EdgeState => ({
  name,
  from: 'gateway',
  to: 'orders',
  listen: '127.0.0.1:1',
  upstream: '127.0.0.1:2',
});

/** What a plan with these proxies does. */
async function plan(...names: string[]): Promise<void> {
  proxiesOf.want(url, names.map(edge));
  await proxiesOf.populate({ isEmpty: false });
}

it('makes what is wanted once, however often it is wanted', async () => {
  await plan('gateway-orders', 'gateway-orders-2');
  await plan('gateway-orders', 'gateway-orders-2');
  expect([...proxies]).toEqual(['gateway-orders', 'gateway-orders-2']);
  expect(populated).toBe(1);
});

it('makes a proxy again that was removed meanwhile: a service is scaled up, down, and up again', async () => {
  await plan('gateway-orders', 'gateway-orders-2');
  await proxiesOf.remove(['gateway-orders-2']);
  expect([...proxies]).toEqual(['gateway-orders']);
  await plan('gateway-orders', 'gateway-orders-2');
  expect([...proxies]).toEqual(['gateway-orders', 'gateway-orders-2']);
});

it('makes all of them again for a Toxiproxy that has started again', async () => {
  await plan('gateway-orders');
  proxies.clear();
  await proxiesOf.populate({ isEmpty: true });
  expect([...proxies]).toEqual(['gateway-orders']);
});
