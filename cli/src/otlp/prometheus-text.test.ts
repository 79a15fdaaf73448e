import { describe, expect, it } from 'vitest';
import { createMetricStore } from './metric-store.ts';
import type { AttributeMap, KeyValue, OtlpMetric } from './otlp-json.ts';
import { otlpAttributes } from './otlp-json.ts';
import { prometheusText } from './prometheus-text.ts';

const NOW = 1_700_000_000_000;
const TIME = { timeUnixNano: `${NOW}000000`, startTimeUnixNano: `${NOW - 5_000}000000` };
const attributes = (map: AttributeMap): KeyValue[] => otlpAttributes(map);

interface Report {
  readonly metrics: readonly OtlpMetric[];
  readonly scope?: string;
  readonly resource?: AttributeMap;
  /** ms before NOW. */
  readonly age?: number;
}

function scraped(...reports: readonly Report[]): string {
  const store = createMetricStore({
    maxSeries: 100,
    maxInstances: 10,
    lastingNames: new Set(),
    maxEndedInstances: 0,
    staleAfterMs: 3_500,
  });
  for (const { metrics, scope = 'Shop.Orders', resource = {}, age = 0 } of reports) {
    const all = { 'service.name': 'orders', 'service.instance.id': 'orders-1', ...resource };
    const scopeMetrics = [{ scope: { name: scope }, metrics }];
    store.add({ resourceMetrics: [{ resource: { attributes: attributes(all) }, scopeMetrics }] }, NOW - age);
  }
  return prometheusText(store.reports(), NOW);
}

const gauge = (name: string, value: number, tags: AttributeMap = {}): OtlpMetric => ({
  name,
  description: 'unpublished events',
  gauge: { dataPoints: [{ ...TIME, asDouble: value, attributes: attributes(tags) }] },
});

it('writes a family with help, type and the labels of its process and meter', () => {
  expect(scraped({ metrics: [gauge('shop.outbox.pending', 12)] })).toBe(
    [
      '# HELP shop_outbox_pending unpublished events',
      '# TYPE shop_outbox_pending gauge',
      'shop_outbox_pending{instance="orders-1",job="orders",otel_scope_name="Shop.Orders",otel_scope_schema_url="",otel_scope_version=""} 12',
      '',
    ].join('\n'),
  );
});

it('adds up the buckets of a histogram, up to +Inf', () => {
  const point = { ...TIME, count: 6, sum: 42.5, explicitBounds: [5, 10], bucketCounts: [1, 2, 3] };
  const text = scraped({
    metrics: [
      { name: 'shop.saga.duration', unit: 'ms', histogram: { aggregationTemporality: 2, dataPoints: [point] } },
    ],
  });
  const lines = text.split('\n').map((line) => line.replace(/\{.*(le="[^"]+").*\}/, '{$1}').replace(/\{i.*\}/, ''));
  expect(lines.slice(1, -1)).toEqual([
    '# TYPE shop_saga_duration_milliseconds histogram',
    'shop_saga_duration_milliseconds_bucket{le="5"} 1',
    'shop_saga_duration_milliseconds_bucket{le="10"} 3',
    'shop_saga_duration_milliseconds_bucket{le="+Inf"} 6',
    'shop_saga_duration_milliseconds_sum 42.5',
    'shop_saga_duration_milliseconds_count 6',
  ]);
});

it('has one target_info a process, with what does not name it', () => {
  const resource = { 'service.namespace': 'shop', 'service.version': '0.2.0', 'process.pid': 7 };
  const info = scraped({ resource, metrics: [gauge('a', 1)] }).split('\n')[5];
  expect(info).toBe('target_info{instance="orders-1",job="shop/orders",process_pid="7",service_version="0.2.0"} 1');
});

describe('of two processes of one instance', () => {
  const before = { metrics: [gauge('a', 1)], resource: { 'process.pid': 1 } };
  const after = { metrics: [gauge('a', 2)], resource: { 'process.pid': 2 } };
  const counted = (...reports: readonly Report[]) => scraped(...reports).match(/^a\{.*$/gm);

  const first = [
    { ...before, age: 9_000 },
    { ...after, age: 8_000 },
  ];

  it('the one that began first counts until it is stale, and the other reports', () => {
    expect(counted(...first, { ...before, age: 3_500 }, after)).toEqual([expect.stringMatching(/ 1$/)]);
    expect(counted(...first, { ...before, age: 3_501 }, after)).toEqual([expect.stringMatching(/ 2$/)]);
  });

  it('the one that began first does not count again when it goes on after that, as one that was frozen', () => {
    expect(counted(...first, { ...after, age: 1_000 }, before)).toEqual([expect.stringMatching(/ 2$/)]);
  });

  it('the one that began later does not count where it ends first', () => {
    expect(counted(...first, { ...before, age: 5_000 }, before)).toEqual([expect.stringMatching(/ 1$/)]);
  });
});

it('leaves a process out that has been silent for longer than 15 s', () => {
  expect(scraped({ metrics: [gauge('a', 1)], age: 15_000 })).toMatch(/^a\{/m);
  expect(scraped({ metrics: [gauge('a', 1)], age: 15_001 })).toBe('');
});

it('escapes quotes, backslashes and line ends', () => {
  expect(scraped({ metrics: [gauge('a', 1, { path: 'C:\\"x"\n' })] })).toContain(String.raw`path="C:\\\"x\"\n"`);
});

it('joins the values of attributes whose names become one label', () => {
  expect(scraped({ metrics: [gauge('a', 1, { 'a.b': 'x', 'a-b': 'y' })] })).toContain('a_b="x;y"');
});

it('keeps the first type of a name', () => {
  const counter = { name: 'a', unit: '', sum: { isMonotonic: false, aggregationTemporality: 2, dataPoints: [TIME] } };
  const histogram = { name: 'a', histogram: { aggregationTemporality: 2, dataPoints: [{ ...TIME, count: 1 }] } };
  const text = scraped(
    { metrics: [counter] },
    { metrics: [histogram], resource: { 'service.instance.id': 'orders-2' } },
  );
  expect(text.match(/^# TYPE .*$/gm)).toEqual(['# TYPE a gauge']);
  expect(text).not.toContain('a_bucket');
});

it.each([
  [Number.POSITIVE_INFINITY, '+Inf'],
  [Number.NEGATIVE_INFINITY, '-Inf'],
  [Number.NaN, 'NaN'],
  [0.1, '0.1'],
])('writes %d as %s', (value, expected) => {
  const line = scraped({ metrics: [gauge('a', value)] }).trimEnd();
  expect(line.slice(line.lastIndexOf(' ') + 1)).toBe(expected);
});
