import { expect, it } from 'vitest';
import type { MetricProbe } from '../../format/schema.ts';
import { aPoint, createFakeContext } from '../testing/fake-context.ts';
import { lookAtMetric } from './metric.ts';

const opened = aPoint('shop.breaker.transitions', 3, { type: 'counter', attributes: { edge: 'orders-payments' } });

function look(provider: object, points = [opened]) {
  const { context } = createFakeContext({ points: () => points });
  const whole = { type: 'metric', name: 'shop.breaker.transitions', of: 'sum', ...provider };
  return lookAtMetric({ name: 'm', type: 'probe', provider: whole, tolerance: 0 } as unknown as MetricProbe, context);
}

it.each([{}, { since: 'start' }])('counts the series that are meant: %j', async (more) => {
  expect(await look({ ...more, where: { edge: 'orders-payments' } })).toMatchObject({ outcome: 'deviated' });
  expect(await look({ ...more, where: { edge: 'orders-stock' } })).toMatchObject({ outcome: 'held' });
});

it.each([{}, { since: 'start' }])('a tag that no series has chooses none, which is not 0: %j', async (more) => {
  expect(await look({ ...more, where: { edgee: 'orders-payments' } })).toMatchObject({
    outcome: 'unknown',
    observed: 'no series of shop.breaker.transitions has a tag "edgee"',
  });
});

it('a counter that nobody has incremented is 0 while its service reports', async () => {
  expect(await look({}, [])).toMatchObject({ outcome: 'held' });
  expect(await look({ name: 'shop.shipping.messages' }, [])).toMatchObject({ outcome: 'unknown' });
});
