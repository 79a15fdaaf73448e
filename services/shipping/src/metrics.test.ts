import { metrics } from '@opentelemetry/api';
import { afterEach, expect, it, vi } from 'vitest';
import { createDelayRecorder, createEventCounter, createMessageCounter } from './metrics.ts';

afterEach(() => vi.restoreAllMocks());

it('records in seconds how long a shipment took, with a bound at what is late, and never a negative time', () => {
  const recorded: number[] = [];
  const createHistogram = vi.fn(() => ({ record: (seconds: number) => void recorded.push(seconds) }));
  vi.spyOn(metrics, 'getMeter').mockReturnValue({ createHistogram } as never);
  const record = createDelayRecorder();
  record(0.2);
  record(-0.5);
  expect(recorded).toEqual([0.2, 0]);
  const [name, options] = createHistogram.mock.calls[0] as unknown as [string, object];
  expect(name).toBe('shop.shipping.delay');
  expect(options).toMatchObject({
    unit: 's',
    advice: { explicitBucketBoundaries: expect.arrayContaining([0.1, 15, 3_600]) },
  });
});

it('has both versions of the event from the start, at 0, and counts each that was read', () => {
  const added: unknown[] = [];
  const meter = { createCounter: () => ({ add: (value: number, tags: object) => added.push([value, tags]) }) };
  vi.spyOn(metrics, 'getMeter').mockReturnValue(meter as unknown as ReturnType<typeof metrics.getMeter>);
  createEventCounter()('order.confirmed.v2');
  expect(added).toEqual([
    [0, { type: 'order.confirmed' }],
    [0, { type: 'order.confirmed.v2' }],
    [1, { type: 'order.confirmed.v2' }],
  ]);
});

it('has every outcome of a delivery from the start, at 0, and counts each delivery once', () => {
  const added: unknown[] = [];
  const meter = { createCounter: () => ({ add: (value: number, tags: object) => added.push([value, tags]) }) };
  vi.spyOn(metrics, 'getMeter').mockReturnValue(meter as unknown as ReturnType<typeof metrics.getMeter>);
  const count = createMessageCounter();
  const none = ['shipped', 'duplicate', 'dead_lettered', 'retried'].map((outcome) => [0, { outcome }]);
  expect(added).toEqual(none);
  count('retried');
  expect(added).toEqual([...none, [1, { outcome: 'retried' }]]);
});
