import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { expect, it } from 'vitest';
import { withoutUpDownCounters } from './database-meters.ts';

class Reader extends MetricReader {
  protected override async onShutdown() {}
  protected override async onForceFlush() {}
}

it('records histograms, and no up-down counters', async () => {
  const reader = new Reader();
  const meter = withoutUpDownCounters(new MeterProvider({ readers: [reader] })).getMeter('pg');
  meter.createHistogram('duration').record(1, { database: 'orders' });
  meter.createUpDownCounter('connections').add(1);
  const { resourceMetrics } = await reader.collect();
  const names = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics.map(({ descriptor }) => descriptor.name));
  expect(names).toEqual(['duration']);
});
