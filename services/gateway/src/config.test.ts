import { describe, expect, it } from 'vitest';
import { loadConfig } from './config.ts';

const complete = { PORT: '8080', ORDERS_URLS: 'http://127.0.0.1:4001, http://127.0.0.1:4002/' };

describe('loadConfig', () => {
  it('reads the replicas of orders and the edge with its overrides', () => {
    const config = loadConfig({ ...complete, EDGE_GATEWAY_ORDERS_BULKHEAD: '7' });
    expect(config.ordersOrigins).toEqual(['http://127.0.0.1:4001', 'http://127.0.0.1:4002']);
    expect(config.ordersEdge).toMatchObject({ callTimeoutMs: 9_500, bulkhead: 7 });
  });

  it('takes a port that its replicas share beside one for itself', () => {
    const shared = loadConfig({ ...complete, LISTEN_FD: '3', INSTANCE_PORT: '8081' });
    expect(shared).toMatchObject({ PORT: 8080, LISTEN_FD: 3, INSTANCE_PORT: 8081 });
  });

  it.each([
    ['no replica', { ...complete, ORDERS_URLS: '' }, 'ORDERS_URLS'],
    ['a replica without a scheme', { ...complete, ORDERS_URLS: '127.0.0.1:4001' }, 'ORDERS_URLS'],
    ['a replica with a path', { ...complete, ORDERS_URLS: 'http://127.0.0.1:4001/orders' }, 'ORDERS_URLS'],
    ['no port', { ORDERS_URLS: complete.ORDERS_URLS }, 'PORT'],
    ['a shared socket without an instance port', { ...complete, LISTEN_FD: '3' }, 'INSTANCE_PORT'],
    ['a reused port without an instance port', { ...complete, REUSE_PORT: '1' }, 'INSTANCE_PORT'],
    ['a descriptor of standard output', { ...complete, LISTEN_FD: '1', INSTANCE_PORT: '8081' }, 'LISTEN_FD'],
    ['an override that is not a number', { ...complete, EDGE_GATEWAY_ORDERS_BULKHEAD: 'many' }, 'EDGE_GATEWAY_ORDERS'],
  ])('names what is wrong: %s', (_title, env, variable) => {
    expect(() => loadConfig(env)).toThrow(variable);
  });
});
