import { createHealth } from '@shop/kit/health.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { describe, expect, it } from 'vitest';
import { createApp, type ShippingDependencies } from './app.ts';

const orderId = '0198c9a0-0000-7000-8000-0000000000aa';
const logger = createLogger({ service: 'shipping', instance: 'shipping-test', level: 'silent' });
const shipment = {
  id: '0198c9a0-0000-7000-8000-0000000000bb',
  orderId,
  lines: [{ productId: 1, quantity: 2 }],
  createdAt: new Date('2026-07-01T10:00:00Z'),
};

function aServer(checks: Parameters<typeof createHealth>[0] = {}, more: Partial<ShippingDependencies> = {}) {
  const find = async (id: string) => (id === orderId ? shipment : undefined);
  const server = createApp({ shipments: { find }, health: createHealth(checks), logger, ...more });
  return { get: (url: string) => server.inject({ method: 'GET', url }) };
}

describe('shipping', () => {
  it('shows the shipment of an order', async () => {
    const response = await aServer().get(`/shipments/${orderId.toUpperCase()}`);
    expect(response.json()).toEqual({ ...shipment, createdAt: '2026-07-01T10:00:00.000Z' });
  });

  it('knows no shipment of another order', async () => {
    const response = await aServer().get('/shipments/0198c9a0-0000-7000-8000-0000000000cc');
    expect(response.json()).toMatchObject({ status: 404, code: 'shipment_not_found' });
  });

  it('describes itself as OpenAPI 3.1', async () => {
    const document = (await aServer().get('/openapi.json')).json();
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.paths)).toEqual(['/shipments/{orderId}']);
  });

  it('says what it would have done only while it is in the shadow', async () => {
    const outcome = { number: 4, messageId: null, settlement: 'unreceived' } as const;
    const shadow = { outcomesAfter: (number: number) => (number === 3 ? [outcome] : []) };
    const response = await aServer({}, { shadow }).get('/shadow/outcomes?after=3');
    expect(response.json()).toEqual({ outcomes: [outcome] });
    expect((await aServer({}, { shadow }).get('/shadow/outcomes')).statusCode).toBe(400);
    expect((await aServer().get('/shadow/outcomes?after=3')).statusCode).toBe(404);
  });

  it('is alive but not ready while the broker is unavailable, and reports it', async () => {
    const server = aServer({ database: async () => undefined, broker: () => Promise.reject(new Error('unavailable')) });
    expect((await server.get('/health/live')).statusCode).toBe(200);
    const ready = await server.get('/health/ready');
    expect(ready.statusCode).toBe(503);
    expect(ready.json().dependencies).toEqual([
      { name: 'database', status: 'up' },
      { name: 'broker', status: 'down', reason: 'unavailable' },
    ]);
  });
});
