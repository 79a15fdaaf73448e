import { databaseLimits, type EdgeLimits, type EdgeName, edges, loadEdge, ORDER_BUDGET_MS } from '@shop/kit/edges.ts';
import type { Quantity } from './quantity.ts';

/** What `budget.` stands before. */
export type Budgets = ReadonlyMap<string, Quantity>;

/**
 * Every number of the budget table (kit/src/edges.ts) by the name it has in expressions: `orders-payments.attempt`,
 * `order`. `env` overrides them as it does in the services. Throws ConfigError when it is not valid.
 */
export function budgetsOf(env: Readonly<Record<string, string>> = {}): Budgets {
  if (Object.keys(env).length > 0) return readBudgets(env);
  usual ??= readBudgets({});
  return usual;
}

/** Those of nearly every experiment, read once. */
let usual: Budgets | undefined;

function readBudgets(env: Readonly<Record<string, string>>): Budgets {
  const names = Object.keys(edges) as EdgeName[];
  const limits = names.map((name) => ({ name, limits: loadEdge(name, env) }));
  return new Map<string, Quantity>([
    ...limits.flatMap(({ name, limits }) => ofEdge(name, limits)),
    ['order', { value: ORDER_BUDGET_MS, unit: 'ms' }],
    ['gateway', { value: loadEdge('gateway-orders', env).callTimeoutMs, unit: 'ms' }],
    ['database.connect', { value: databaseLimits.connectTimeoutMs, unit: 'ms' }],
    ['database.statement', { value: databaseLimits.statementTimeoutMs, unit: 'ms' }],
  ]);
}

function ofEdge(edge: EdgeName, limits: EdgeLimits): [string, Quantity][] {
  return Object.entries(limits).map(([field, value]) => [
    `${edge}.${nameOf(field)}`,
    { value, unit: field.endsWith('Ms') ? 'ms' : 'number' },
  ]);
}

/** `attemptTimeoutMs` is `attempt`, `breakerHalfOpenAfterMs` is `breaker-half-open-after`. */
function nameOf(field: string): string {
  return field.replace(/(Timeout)?Ms$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
