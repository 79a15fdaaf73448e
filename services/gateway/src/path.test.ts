import { describe, expect, it } from 'vitest';
import { toOrdersTarget, toPublicPath } from './path.ts';

describe('toOrdersTarget', () => {
  it.each([
    ['/api/orders', '/orders'],
    ['/api/orders/', '/orders/'],
    ['/api/orders?limit=2&after=%20x', '/orders?limit=2&after=%20x'],
    ['/api/orders/x?', '/orders/x?'],
    ["/api/orders/x?a='b'?c", "/orders/x?a='b'?c"],
    ['/api/orders/0198c9a0-0000-7000-8000-0000000000aa', '/orders/0198c9a0-0000-7000-8000-0000000000aa'],
    ['/api/orders/a/b_c~d', '/orders/a/b_c~d'],
    ['/api/orders/...', '/orders/...'],
  ])('%s -> %s', (target, path) => {
    expect(toOrdersTarget(target, '/api')).toBe(path);
  });

  it('is below the base of a version', () => {
    expect(toOrdersTarget('/api/v2/orders/x?y', '/api/v2')).toBe('/orders/x?y');
    expect(toOrdersTarget('/api/v2/orders/x', '/api')).toBeUndefined();
    expect(toOrdersTarget('/api/orders/x', '/api/v2')).toBeUndefined();
  });

  it.each([
    '/api/orders/..',
    '/api/orders/../health/ready',
    '/api/orders/./x',
    '/api/orders/..%2f',
    '/api/orders/..%2Fhealth',
    '/api/orders/%2e%2e/health',
    '/api/orders/%2e%2e%2fhealth',
    '/api/orders//x',
    '/api/orders//evil.example/x',
    '//api/orders',
    '/api//orders',
    '/api/orders/x%00',
    '/api/orders/x\\..\\y',
    '/api/orders/x;y=1',
    '/api/orders/@evil.example',
    '/api/%6frders',
    '/api/ordersx',
    '/orders',
    '/health/ready',
    'http://evil.example/api/orders',
    'http://127.0.0.1/api/orders/x',
    '*',
    '',
    '/api/orders/x?a=1#b',
    '/api/orders/x?a=\u0000',
  ])('refuses %j', (target) => {
    expect(toOrdersTarget(target, '/api')).toBeUndefined();
  });
});

describe('toPublicPath', () => {
  it.each([
    ['/orders/1', '/api/orders/1'],
    ['/orders', '/api/orders'],
    ['/api/orders/1', '/api/orders/1'],
    ['/ordersx', '/ordersx'],
    ['https://example.org/orders/1', 'https://example.org/orders/1'],
  ])('%s -> %s', (location, expected) => {
    expect(toPublicPath(location, '/api')).toBe(expected);
  });

  it.each(['/orders/1', '/api/orders/1'])('%s is below the base of a version', (location) => {
    expect(toPublicPath(location, '/api/v2')).toBe('/api/v2/orders/1');
  });
});
