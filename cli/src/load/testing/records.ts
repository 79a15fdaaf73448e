import type { OrderRecord } from '../../../../scenarios/lib/record.ts';

/** The record of a confirmed order, as far as nothing else is said. */
export function aRecord(changes: Partial<OrderRecord> = {}): OrderRecord {
  return {
    phase: 'whole',
    index: 0,
    key: 'load-1-whole-0',
    at: 1_000,
    tookMs: 50,
    http: 201,
    kind: 'confirmed',
    distinctProducts: 1,
    expected: true,
    opened: false,
    isFirst: true,
    orderId: 'a',
    status: 'Confirmed',
    traceId: '0af7651916cd43dd8448eb211c80319c',
    ...changes,
  };
}

/** So many, each with its key, id and trace, evenly over the seconds. */
export function records(count: number, seconds: number, changes: Partial<OrderRecord> = {}): OrderRecord[] {
  return Array.from({ length: count }, (_, index) =>
    aRecord({
      index,
      key: `load-1-${changes.phase ?? 'whole'}-${index}`,
      orderId: `order-${index}`,
      at: 1_000 + (index * seconds * 1000) / count,
      ...changes,
    }),
  );
}

/** A request that got no response in time. */
export const timedOut: Partial<OrderRecord> = {
  http: 0,
  expected: false,
  orderId: undefined,
  status: undefined,
  traceId: undefined,
  code: 'timeout',
};
