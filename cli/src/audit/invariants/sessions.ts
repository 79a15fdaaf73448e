import { type InvariantResult, type Violation, verdictOf } from '../invariant.ts';

export const SESSIONS_TITLE = 'no forgotten transaction, no connection too many';

/** Connections of one service instance to its database. */
export interface SessionFact {
  readonly database: string;
  /** `orders-1`. */
  readonly instance: string;
  readonly connections: number;
  readonly poolSize: number;
}

/** A transaction of a service that is open for longer than any of its statements may take. */
export interface OpenTransaction {
  readonly database: string;
  readonly instance: string;
  readonly openForMs: number;
}

/**
 * I13: no transaction stays open, and no instance has more connections than its pool. Of an instance that should be there and
 * has no connection nothing was seen. Pure.
 */
export function sessionsResult(
  sessions: readonly SessionFact[],
  open: readonly OpenTransaction[],
  expected: readonly string[],
): InvariantResult {
  const violations: Violation[] = [
    ...open.map(({ database, instance, openForMs }) => ({
      kind: 'stuck' as const,
      subject: `${instance}: a transaction on ${database}`,
      detail: `${instance}: a transaction on ${database} is open for more than ${(openForMs / 1000).toFixed(1)} s`,
    })),
    ...sessions
      .filter(({ connections, poolSize }) => connections > poolSize)
      .map(({ database, instance, connections, poolSize }) => ({
        kind: 'unexpected' as const,
        subject: `${instance}: connections to ${database}`,
        detail: `${instance}: ${connections} connections to ${database}, its pool has ${poolSize}`,
      })),
  ];
  const connections = sessions.reduce((sum, session) => sum + session.connections, 0);
  const absent = expected.filter((name) => !sessions.some(({ instance }) => instance === name));
  const missing = absent.map((name) => `${name} has no connection`);
  const seen = `${connections} connections of ${sessions.length} instances, ${open.length} transactions too long`;
  return {
    id: 'I13',
    title: SESSIONS_TITLE,
    verdict: verdictOf(violations, missing),
    evidence: [seen, ...missing].join(', '),
    violations,
    inFlight: 0,
    ...(violations.length > 0 && missing.length > 0 && { incomplete: true }),
  };
}
