import { metrics } from '@opentelemetry/api';
import { afterEach, expect, it, vi } from 'vitest';
import { createOrderMetrics, type OrderGauges, unreadGauges } from './metrics.ts';

afterEach(() => vi.restoreAllMocks());

/** A meter that keeps what is recorded: by instrument, the values with their tags, and what the gauges read. */
function recorded(gauges: OrderGauges) {
  const values: Record<string, unknown[]> = {};
  const read: Record<string, () => unknown> = {};
  const put = (name: string) => (value: number, tags?: object) => {
    values[name] = [...(values[name] ?? []), [value, ...Object.values(tags ?? {})]];
  };
  const meter = {
    createCounter: (name: string) => ({ add: put(name) }),
    createHistogram: (name: string) => ({ record: put(name) }),
    createObservableGauge: (name: string) => ({
      addCallback(callback: (result: { observe(value: number): void }) => void) {
        read[name] = () => {
          const seen: number[] = [];
          callback({ observe: (value) => seen.push(value) });
          return seen;
        };
      },
    }),
  };
  vi.spyOn(metrics, 'getMeter').mockReturnValue(meter as unknown as ReturnType<typeof metrics.getMeter>);
  return { metrics: createOrderMetrics(gauges), values, read };
}

it('has every outcome from the start, at 0', () => {
  expect(recorded({ ...unreadGauges }).values['shop.orders.outcomes']).toEqual([
    [0, 'confirmed'],
    [0, 'out_of_stock'],
    [0, 'stock_unavailable'],
    [0, 'declined'],
    [0, 'payment_unavailable'],
  ]);
});

it('has recoveries and failed compensations from the start, at 0', () => {
  const { values } = recorded({ ...unreadGauges });
  expect(values['shop.saga.recoveries']).toEqual([[0]]);
  expect(values['shop.compensation.failures']).toEqual([
    [0, 'release stock'],
    [0, 'refund payment'],
  ]);
});

it.each([
  ['Confirmed', null, 'confirmed'],
  ['Cancelled', 'out of stock', 'out_of_stock'],
  ['Cancelled', 'payment declined', 'declined'],
  ['Cancelled', 'payment unavailable', 'payment_unavailable'],
  ['Cancelled', 'stock unavailable', 'stock_unavailable'],
] as const)('counts an order that is %s because of %s once as a saga and once as %s', (status, reason, outcome) => {
  const { metrics, values } = recorded({ ...unreadGauges });
  metrics.sagaDecided(status, reason, 12);
  expect(values['shop.sagas']?.at(-1)).toEqual([1, status]);
  expect(values['shop.orders.outcomes']?.slice(5)).toEqual([[1, outcome]]);
  expect(values['shop.saga.duration']).toEqual([[12, status]]);
});

it('reports ages once they were read', () => {
  const gauges = { ...unreadGauges };
  const { read } = recorded(gauges);
  const names = ['shop.outbox.oldest.age', 'shop.compensations.oldest.age', 'shop.sagas.open.oldest.age'];
  expect(names.map((name) => read[name]?.())).toEqual([[], [], []]);
  Object.assign(gauges, { oldestPendingAgeS: 1.5, oldestCompensationAgeS: 0, oldestUndecidedAgeS: 3 });
  expect(names.map((name) => read[name]?.())).toEqual([[1.5], [0], [3]]);
});
