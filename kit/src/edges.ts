import { Type } from 'typebox';
import { ConfigError, parseEnvironment } from './config.ts';

/** The limits of one edge. Times in ms. `attempts` counts the first one. */
export interface EdgeLimits {
  readonly attemptTimeoutMs: number;
  readonly attempts: number;
  readonly callTimeoutMs: number;
  readonly backoffBaseMs: number;
  readonly backoffMaxMs: number;
  /** Consecutive failures that eject a replica; and, where they go on for `breakerFailingMs`, open the breaker of the edge. */
  readonly breakerFailures: number;
  readonly breakerFailingMs: number;
  /** When one trial call is sent to an open edge, and how often one to an ejected replica. */
  readonly breakerHalfOpenAfterMs: number;
  /** Concurrent calls; as many again may be queued. */
  readonly bulkhead: number;
}

const defaults = {
  backoffBaseMs: 50,
  backoffMaxMs: 400,
  breakerFailures: 5,
  breakerFailingMs: 1_000,
  breakerHalfOpenAfterMs: 5_000,
} as const;

/**
 * The budget of every edge, strictly nested, so that the caller gets a response within 10 s under any single fault.
 * In order: attempt <= call < order (9 s) < gateway (9.5 s) < client (10 s).
 */
export const edges = {
  // Only an idempotent request has a second attempt: showing an order, not placing one.
  'gateway-orders': { ...defaults, attemptTimeoutMs: 9_500, attempts: 2, callTimeoutMs: 9_500, bulkhead: 512 },
  // An order calls the catalog for each of its products, several concurrently: see PRODUCT_CONCURRENCY in orders.
  'orders-catalog': { ...defaults, attemptTimeoutMs: 1_000, attempts: 3, callTimeoutMs: 3_500, bulkhead: 96 },
  'orders-stock': { ...defaults, attemptTimeoutMs: 1_000, attempts: 3, callTimeoutMs: 3_500, bulkhead: 64 },
  'orders-payments': { ...defaults, attemptTimeoutMs: 2_000, attempts: 2, callTimeoutMs: 4_500, bulkhead: 64 },
} as const satisfies Record<string, EdgeLimits>;

export type EdgeName = keyof typeof edges;

/** Budget of a whole order inside the orders service, in ms. */
export const ORDER_BUDGET_MS = 9_000;

/** Limits of a service's calls to its own database, in ms: waiting for a connection, and for one statement. */
export const databaseLimits = { connectTimeoutMs: 1_500, statementTimeoutMs: 2_000 } as const;

/** What each limit means, for docs/configuration.md. */
export const edgeFields: Readonly<Record<keyof EdgeLimits, string>> = {
  attemptTimeoutMs: 'time limit of one attempt',
  attempts: 'attempts of one call, the first included',
  callTimeoutMs: 'time limit of a call with all its attempts',
  backoffBaseMs: 'longest pause before the second attempt',
  backoffMaxMs: 'longest pause before any attempt',
  breakerFailures: 'failures in a row that eject a replica',
  breakerFailingMs: 'for how long they must go on to open the breaker of the edge',
  breakerHalfOpenAfterMs: 'when one call tries an open edge, and how often one tries an ejected replica',
  bulkhead: 'concurrent calls; as many again may wait',
};

/** `EDGE_ORDERS_PAYMENTS_ATTEMPT_TIMEOUT_MS` */
export function edgeVariable(name: EdgeName, field: string): string {
  return `EDGE_${name.replaceAll('-', '_')}_${field.replace(/[A-Z]/g, (letter) => `_${letter}`)}`.toUpperCase();
}

/**
 * The edge's limits with overrides such as EDGE_ORDERS_PAYMENTS_ATTEMPT_TIMEOUT_MS=500.
 * Throws ConfigError when an override is not a positive integer, or an attempt is longer than its call.
 */
export function loadEdge(name: EdgeName, env: NodeJS.ProcessEnv): EdgeLimits {
  const fields = Object.keys(edges[name]) as (keyof EdgeLimits)[];
  const variable = (field: string) => edgeVariable(name, field);
  const schema = Type.Object(
    Object.fromEntries(
      fields.map((field) => [
        variable(field),
        Type.Integer({ minimum: 1, maximum: 600_000, default: edges[name][field] }),
      ]),
    ),
  );
  const values = parseEnvironment(schema, env) as Record<string, number>;
  const limits = Object.fromEntries(fields.map((field) => [field, values[variable(field)]])) as Record<
    keyof EdgeLimits,
    number
  >;
  if (limits.attemptTimeoutMs > limits.callTimeoutMs) {
    throw new ConfigError(
      `configuration: ${variable('attemptTimeoutMs')} must not be above ${variable('callTimeoutMs')}, ` +
        `got ${limits.attemptTimeoutMs} and ${limits.callTimeoutMs}`,
    );
  }
  return Object.freeze(limits);
}
