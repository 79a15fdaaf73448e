import { metrics } from '@opentelemetry/api';
import { afterEach, expect, it, vi } from 'vitest';
import { createDelayRecorder } from './metrics.ts';

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
