import { expect, it } from 'vitest';
import { createMetricStore } from './metric-store.ts';
import { gaugeOf, reportOf, type TaggedValue } from './own-metrics.ts';
import { prometheusText } from './prometheus-text.ts';

const NOW = 1_700_000_000_000;
const RESOURCE = { 'service.name': 'shopctl', 'service.instance.id': 'supervisor', 'process.pid': 7 };
const INSTRUMENT = { unit: '{message}', description: 'Messages of a queue.' };
const report = (values: readonly TaggedValue[]) =>
  reportOf(RESOURCE, 'Shop.Platform', [gaugeOf('shop.queue.messages', INSTRUMENT, values)]);
const aStore = () =>
  createMetricStore({
    maxSeries: 3,
    maxInstances: 10,
    lastingNames: new Set(),
    maxEndedInstances: 0,
    staleAfterMs: 3_500,
  });

it('is offered to Prometheus as the metrics of services are', () => {
  const store = aStore();
  store.replace(report([{ value: 3, attributes: { queue: 'a' } }]), NOW);
  expect(prometheusText(store.reports(), NOW)).toContain(
    'shop_queue_messages{instance="supervisor",job="shopctl",otel_scope_name="Shop.Platform",otel_scope_schema_url="",otel_scope_version="",queue="a"} 3',
  );
});

it('is absent once its process does not report it any more', () => {
  const store = aStore();
  store.replace(
    report([
      { value: 3, attributes: { queue: 'a' } },
      { value: 4, attributes: { queue: 'b' } },
    ]),
    NOW,
  );
  store.replace(report([{ value: 5, attributes: { queue: 'b' } }]), NOW + 1_000);
  const points = store.points({ names: ['shop.queue.messages'] }, NOW + 1_000);
  expect(points).toMatchObject([{ attributes: { queue: 'b' }, value: 5, stale: false, service: 'shopctl' }]);
  expect(store.stats()).toMatchObject({ series: 1, refusedSeries: 0, instances: 1 });
});

it('makes room for new series by those that ended', () => {
  const store = aStore();
  for (let round = 0; round < 10; round++) {
    store.replace(report([{ value: 1, attributes: { queue: `queue-${round}` } }]), NOW + round);
  }
  expect(store.stats()).toMatchObject({ series: 1, refusedSeries: 0 });
});
