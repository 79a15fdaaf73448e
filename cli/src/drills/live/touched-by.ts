import type { EdgeState } from '../../platform/state.ts';
import type { TraceSpan } from '../../trace/tree.ts';

type Span = Pick<TraceSpan, 'service' | 'database' | 'kind' | 'attributes'>;

/**
 * Processes that a trace is about: those whose spans it has, and those that they call. What was called and did not respond has no span
 * there: a service that is stopped, a database that refuses connections. Pure.
 */
export function touchedBy(spans: readonly Span[], edges: readonly EdgeState[]): readonly string[] {
  const called = spans.map((span) => calledBy(span, edges)).filter((name) => name !== undefined);
  return [...new Set([...spans.map(({ service }) => service), ...called])];
}

function calledBy({ kind, database, attributes }: Span, edges: readonly EdgeState[]): string | undefined {
  if (database !== undefined) return 'postgres';
  if (attributes['messaging.system'] !== undefined) return 'rabbitmq';
  if (kind !== 'client') return undefined;
  const address = `${attributes['server.address']}:${attributes['server.port']}`;
  return edges.find(({ listen, upstream }) => address === listen || address === upstream)?.to;
}
