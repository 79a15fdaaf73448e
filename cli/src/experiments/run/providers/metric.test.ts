import { expect, it } from 'vitest';
import type { MetricPoint } from '../../../otlp/metric-store.ts';
import { createFakeClock } from '../../../shared/testing/fake-clock.ts';
import type { MetricProbe } from '../../format/schema.ts';
import { aPoint, createFakeContext } from '../testing/fake-context.ts';
import { probeMetric } from './metric.ts';

const opened = aPoint('shop.breaker.transitions', 3, { type: 'counter', attributes: { edge: 'orders-payments' } });

function look(
  provider: object,
  points: readonly MetricPoint[] | (() => readonly MetricPoint[]) = [opened],
  clock = createFakeClock(),
) {
  const { context } = createFakeContext({ points: typeof points === 'function' ? points : () => points }, clock);
  const whole = { type: 'metric', name: 'shop.breaker.transitions', of: 'sum', ...provider };
  return probeMetric({ name: 'm', type: 'probe', provider: whole, tolerance: 0 } as unknown as MetricProbe, context);
}

it.each([{}, { since: 'start' }])('counts the series that are meant: %j', async (more) => {
  expect(await look({ ...more, where: { edge: 'orders-payments' } })).toMatchObject({ verdict: 'fail' });
  expect(await look({ ...more, where: { edge: 'orders-stock' } })).toMatchObject({ verdict: 'pass' });
});

it.each([{}, { since: 'start' }])('a tag that no series has chooses none, which is not 0: %j', async (more) => {
  expect(await look({ ...more, where: { edgee: 'orders-payments' } })).toMatchObject({
    verdict: 'unknown',
    observed: 'no series of shop.breaker.transitions has a tag "edgee"',
  });
});

it('a counter that was not incremented is 0 while its service reports', async () => {
  expect(await look({}, [])).toMatchObject({ verdict: 'pass' });
  expect(await look({ name: 'shop.shipping.messages' }, [])).toMatchObject({ verdict: 'unknown' });
});

it('a gauge that is counted twice a second is read when a count from now on has been reported', async () => {
  const clock = createFakeClock();
  // Rows were written right after the last count, and are counted half a second later.
  const pending = () => [aPoint('shop.outbox.pending', clock.now() < 500 ? 0 : 2)];
  expect(await look({ name: 'shop.outbox.pending', of: 'max' }, pending, clock)).toMatchObject({
    verdict: 'fail',
    observed: 'shop.outbox.pending 2',
  });
});
