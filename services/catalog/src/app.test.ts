import { DatabaseUnavailableError } from '@shop/kit/failures.ts';
import { createHealth } from '@shop/kit/health.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { describe, expect, it } from 'vitest';
import { createApp } from './app.ts';
import type { Product, Products } from './products.ts';

const mug: Product = { id: 4, name: 'Handmade clay mug', price: 38_000, currency: 'UAH' };

const onlyTheMug: Products = {
  find: async (id) => (id === mug.id ? mug : undefined),
  list: async () => [mug],
};

const unavailable: Products = {
  find: () => Promise.reject(new DatabaseUnavailableError('connect ECONNREFUSED 127.0.0.1:5432')),
  list: () => Promise.reject(new DatabaseUnavailableError('connect ECONNREFUSED 127.0.0.1:5432')),
};

const logger = createLogger({ service: 'catalog', instance: 'catalog-test', level: 'silent' });

async function aCatalog(products: Products = onlyTheMug) {
  const server = createApp({ products, health: createHealth({}), logger });
  return { get: (url: string) => server.inject({ method: 'GET', url }) };
}

describe('GET /products/{id}', () => {
  it('returns the product, its price in kopiykas', async () => {
    const response = await (await aCatalog()).get('/products/4');
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual(mug);
  });

  it.each(['5', '0', '-1', '2147483648', '99999999999999999999'])('does not find product %s', async (id) => {
    const response = await (await aCatalog()).get(`/products/${id}`);
    expect(response.statusCode).toBe(404);
    expect(response.headers['content-type']).toContain('application/problem+json');
    expect(response.json()).toMatchObject({ code: 'product_not_found', status: 404 });
  });

  it.each(['mug', '4.5', '1e3', '4%20', '0x4', '%27%3B--'])('has no route for the id %s', async (id) => {
    const response = await (await aCatalog()).get(`/products/${id}`);
    expect(response.json()).toMatchObject({ code: 'route_not_found', status: 404 });
  });

  it('responds 503 and names no host while the database is unavailable', async () => {
    const response = await (await aCatalog(unavailable)).get('/products/4');
    expect(response.statusCode).toBe(503);
    expect(response.json()).toMatchObject({ code: 'database_unavailable' });
    expect(response.headers['retry-after']).toBe('2');
    expect(response.body).not.toContain('127.0.0.1');
  });
});

describe('GET /products', () => {
  it('lists all products', async () => {
    const response = await (await aCatalog()).get('/products');
    expect(response.json()).toEqual({ products: [mug] });
  });
});

describe('GET /openapi.json', () => {
  it('describes the public routes as OpenAPI 3.1', async () => {
    const document = (await (await aCatalog()).get('/openapi.json')).json();
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.paths)).toEqual(['/products', '/products/{id}']);
  });
});
