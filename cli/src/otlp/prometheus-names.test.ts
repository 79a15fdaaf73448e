import { expect, it } from 'vitest';
import { labelName, metricName } from './prometheus-names.ts';

it.each([
  ['shop.sagas', '', 'counter', 'shop_sagas_total'],
  ['shop.saga.duration', 'ms', 'histogram', 'shop_saga_duration_milliseconds'],
  ['shop.outbox.pending', '', 'gauge', 'shop_outbox_pending'],
  ['http.server.request.duration', 's', 'histogram', 'http_server_request_duration_seconds'],
  ['http.server.active_requests', '{request}', 'upDownCounter', 'http_server_active_requests'],
  ['process.cpu.utilization', '1', 'gauge', 'process_cpu_utilization_ratio'],
  ['orders.share', '1', 'counter', 'orders_share_total'],
  ['total.orders', '', 'counter', 'orders_total'],
  ['process.cpu.time', 's', 'counter', 'process_cpu_time_seconds_total'],
  ['queue.seconds.waited', 's', 'gauge', 'queue_seconds_waited'],
  ['disk.read', 'By/s', 'gauge', 'disk_read_bytes_per_second'],
  ['orders.rate', '{order}/min', 'gauge', 'orders_rate_per_min'],
  ['2xx.responses', '', 'counter', '_2xx_responses_total'],
] as const)('%s in "%s", a %s, is %s', (name, unit, kind, expected) => {
  expect(metricName(name, unit, kind)).toBe(expected);
});

it.each([
  ['http.request.method', 'http_request_method'],
  ['edge', 'edge'],
  ['2nd', 'key_2nd'],
  ['_private', 'key_private'],
])('the attribute %s is the label %s', (attribute, expected) => {
  expect(labelName(attribute)).toBe(expected);
});
