/**
 * The empty chain: one of its five processes. Same libraries and calls as the shop, nothing in the handlers: no
 * database, validation, logging, tracing or resilience.
 */
import { fastify } from 'fastify';
import { Pool } from 'undici';
import { grpc, loadProto } from '../../../kit/src/grpc.ts';
import { handleCalls } from '../measure/worker.ts';
import { nextProduct } from './products.ts';

type Ports = Readonly<Record<string, number>>;
type Unary = (request: object, callback: (error: Error | null, response: unknown) => void) => void;

/** Connections to one origin, as many as the shop's concurrent calls. */
const CONNECTIONS = 64;
const RESPONSE = { id: '00000000-0000-4000-8000-000000000000', status: 'Confirmed' };
const PRODUCT = { id: 1, name: 'Notebook', price: 10_000, currency: 'UAH' };

handleCalls({
  gateway: (ports: Ports) => serve('/api/orders', 201, forwardTo(ports.orders, '/orders')),
  orders: (ports: Ports) => serve('/orders', 201, callAll(ports)),
  payments: () => serve('/payments', 201, async () => ({ status: 'accepted' })),
  catalog: () => serve('/products/:id', 200, async () => PRODUCT),
  stock: () => serveStock(),
});

async function serve(url: string, status: number, response: (body: unknown) => Promise<unknown>): Promise<number> {
  const server = fastify();
  const method = url === '/products/:id' ? 'GET' : 'POST';
  server.route({ method, url, handler: async ({ body }, reply) => reply.code(status).send(await response(body)) });
  return Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port);
}

function poolTo(port: number | undefined): Pool {
  return new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS });
}

function forwardTo(port: number | undefined, path: string) {
  const send = sender(poolTo(port));
  return (body: unknown) => send(path, body);
}

function sender(pool: Pool) {
  return async (path: string, body?: unknown): Promise<unknown> => {
    const text = body === undefined ? null : JSON.stringify(body);
    const headers = { 'content-type': 'application/json' };
    const response = await pool.request({ method: text === null ? 'GET' : 'POST', path, headers, body: text });
    return JSON.parse(await response.body.text());
  };
}

/** Catalog, stock and payments in turn, as an order does. */
function callAll(ports: Ports): () => Promise<unknown> {
  const catalog = sender(poolTo(ports.catalog));
  const payments = sender(poolTo(ports.payments));
  const reserve = stockClient(ports.stock);
  return async () => {
    const orderId = RESPONSE.id;
    const productId = nextProduct();
    await catalog(`/products/${productId}`);
    await reserve({ orderId, idempotencyKey: `${orderId}:reserve`, lines: [{ productId, quantity: 1 }] });
    await payments('/payments', { orderId, amount: 10_000, currency: 'UAH', idempotencyKey: `${orderId}:charge` });
    return RESPONSE;
  };
}

function stockClient(port: number | undefined): (request: object) => Promise<unknown> {
  const { stock } = grpc.loadPackageDefinition(loadProto('stock.proto')) as unknown as {
    stock: { Inventory: new (address: string, credentials: unknown) => { Reserve: Unary } };
  };
  const client = new stock.Inventory(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  return (request) =>
    new Promise((resolve, reject) =>
      client.Reserve(request, (error, response) => (error === null ? resolve(response) : reject(error))),
    );
}

function serveStock(): Promise<number> {
  const server = new grpc.Server();
  const response = (_call: unknown, callback: (error: null, response: object) => void) =>
    callback(null, { outcome: 'RESERVE_OUTCOME_RESERVED' });
  const definition = loadProto('stock.proto')['stock.Inventory'] as Parameters<typeof server.addService>[0];
  server.addService(definition, { Reserve: response, Release: response });
  return new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    ),
  );
}
