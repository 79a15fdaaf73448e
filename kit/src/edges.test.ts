import { describe, expect, it } from 'vitest';
import { ConfigError } from './config.ts';
import { databaseLimits, type EdgeName, edges, loadEdge, ORDER_BUDGET_MS } from './edges.ts';

/** The caller's response arrives within this, in ms, under any single fault (docs/saga.md, "Budgets"). */
const CLIENT_LIMIT_MS = 10_000;

const names = Object.keys(edges) as EdgeName[];
const called = names.filter((name) => name !== 'gateway-orders');

describe('the budgets', () => {
  it.each(names)('of %s nest: an attempt is not longer than its call', (name) => {
    const { attemptTimeoutMs, callTimeoutMs } = edges[name];
    expect(attemptTimeoutMs).toBeLessThanOrEqual(callTimeoutMs);
  });

  it.each(called)('of %s leave time for every attempt and the pauses between them', (name) => {
    const { attemptTimeoutMs, attempts, backoffMaxMs, callTimeoutMs } = edges[name];
    expect(attempts * attemptTimeoutMs + (attempts - 1) * Math.min(backoffMaxMs, 250)).toBeLessThanOrEqual(
      callTimeoutMs,
    );
  });

  it.each(called)('of %s end before the order does', (name) => {
    expect(edges[name].callTimeoutMs).toBeLessThan(ORDER_BUDGET_MS);
  });

  it('end in the order: call < order < gateway < client', () => {
    expect(ORDER_BUDGET_MS).toBeLessThan(edges['gateway-orders'].callTimeoutMs);
    expect(edges['gateway-orders'].callTimeoutMs).toBeLessThan(CLIENT_LIMIT_MS);
  });

  it('of one slow step leave time for the others and their saves', () => {
    const slowest = Math.max(...called.map((name) => edges[name].callTimeoutMs));
    expect(slowest + databaseLimits.connectTimeoutMs + databaseLimits.statementTimeoutMs).toBeLessThan(ORDER_BUDGET_MS);
  });
});

describe('the limits of an edge', () => {
  it.each(names)('of %s are those of the table where the environment says nothing', (name) => {
    expect(loadEdge(name, {})).toEqual(edges[name]);
  });

  it('are overridden one by one', () => {
    const limits = loadEdge('orders-stock', { EDGE_ORDERS_STOCK_BREAKER_HALF_OPEN_AFTER_MS: '250' });
    expect(limits).toEqual({ ...edges['orders-stock'], breakerHalfOpenAfterMs: 250 });
  });

  it('are frozen', () => {
    expect(Object.isFrozen(loadEdge('orders-stock', {}))).toBe(true);
  });

  it.each(['0', '-1', '1.5', 'fast', '', '600001', 'true'])('refuse "%s"', (value) => {
    expect(() => loadEdge('orders-stock', { EDGE_ORDERS_STOCK_ATTEMPTS: value })).toThrow(ConfigError);
  });

  it('refuse an attempt that is longer than its call', () => {
    const env = { EDGE_ORDERS_STOCK_ATTEMPT_TIMEOUT_MS: '5000' };
    expect(() => loadEdge('orders-stock', env)).toThrow(/ATTEMPT_TIMEOUT_MS must not be above .*CALL_TIMEOUT_MS/);
  });
});
