import type { DrillEvent, ExemplarSpan } from '../journal/records.ts';

const span = (id: string, parent: string | undefined, tookMs: number, part: Partial<ExemplarSpan> = {}) =>
  ({
    id,
    ...(parent !== undefined && { parent }),
    service: 'orders',
    name: `span ${id}`,
    kind: 'internal',
    error: false,
    fromMs: 0,
    tookMs,
    ...part,
  }) as const satisfies ExemplarSpan;

/** A gateway that calls orders, which calls payments and publishes an event. */
export const before: DrillEvent = {
  type: 'exemplar',
  when: 'before',
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  outcome: 'Confirmed',
  spans: [
    span('1', undefined, 20, { service: 'gateway', name: 'POST /api/orders', kind: 'server' }),
    span('2', '1', 15, { name: 'POST /orders', kind: 'server' }),
    span('3', '2', 5, { name: 'charge payment' }),
    span('4', '3', 4, { service: 'payments', name: 'POST /payments', kind: 'server' }),
    span('5', '2', 1, { name: 'publish order.confirmed', kind: 'producer' }),
  ],
  happenedMs: 25_000,
};

/** The call of payments takes seconds and is retried, and nothing is published. */
export const during: DrillEvent = {
  type: 'exemplar',
  when: 'during',
  traceId: 'a3ce929d0e0e47364bf92f3577b34da6',
  outcome: 'Cancelled: payment unavailable',
  spans: [
    span('a', undefined, 3_020, { service: 'gateway', name: 'POST /api/orders', kind: 'server' }),
    span('b', 'a', 3_015, { name: 'POST /orders', kind: 'server' }),
    span('c', 'b', 3_005, { name: 'charge payment', error: true }),
    span('d', 'c', 4, { service: 'payments', name: 'POST /payments', kind: 'server' }),
    span('e', 'c', 3_000, { service: 'payments', name: 'POST /payments', kind: 'server' }),
  ],
  happenedMs: 41_000,
};
