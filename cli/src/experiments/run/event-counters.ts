import type { Attributes } from './counters.ts';

/** The counter behind an event. */
export interface EventCounter {
  readonly metric: string;
  readonly where: Attributes;
  /** The attribute that distinguishes its increments. */
  readonly by?: 'edge' | 'compensation';
}

/** Events that are increments of a counter (docs/metrics.md). */
export const eventCounters: ReadonlyMap<string, EventCounter> = new Map<string, EventCounter>([
  ['breaker.open', { metric: 'shop.breaker.transitions', where: { to: 'open' }, by: 'edge' }],
  ['breaker.half-open', { metric: 'shop.breaker.transitions', where: { to: 'half-open' }, by: 'edge' }],
  ['breaker.closed', { metric: 'shop.breaker.transitions', where: { to: 'closed' }, by: 'edge' }],
  ['call.retried', { metric: 'shop.call.retries', where: {}, by: 'edge' }],
  ['compensation.retried', { metric: 'shop.compensation.failures', where: {}, by: 'compensation' }],
  ['saga.recovered', { metric: 'shop.saga.recoveries', where: {} }],
  ['duplicate', { metric: 'shop.shipping.messages', where: { outcome: 'duplicate' } }],
  ['dead-lettered', { metric: 'shop.shipping.messages', where: { outcome: 'dead_lettered' } }],
]);
