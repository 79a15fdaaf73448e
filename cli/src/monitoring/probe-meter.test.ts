import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createMetricStore } from '../otlp/metric-store.ts';
import { reportOf } from '../otlp/own-metrics.ts';
import { prometheusText } from '../otlp/prometheus-text.ts';
import type { Meter } from './meter.ts';
import { startProbeMeter } from './probe-meter.ts';

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

const notFound: RequestListener = (_request, response) =>
  response.writeHead(404, { 'content-type': 'application/problem+json' }).end('{"code":"order_not_found"}');

/** A gateway with this response, and a probe of it. */
async function aProbe(respond: RequestListener, { limitMs = 5_000 } = {}) {
  const gateway = { respond, requests: [] as { path: string | undefined; traceparent: unknown }[], isWanted: true };
  const problems: string[] = [];
  const server = createServer((request, response) => {
    gateway.requests.push({ path: request.url, traceparent: request.headers.traceparent });
    gateway.respond(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const meter = startProbeMeter({
    gatewayUrl: async () => (gateway.isWanted ? `http://127.0.0.1:${port}` : undefined),
    onProblem: (message) => problems.push(message),
    everyMs: 10,
    limitMs,
  });
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections());
  opened.push(async () => {
    await meter.end();
    await close();
  });
  return { meter, gateway, problems, close };
}

const successOf = (meter: Meter) => meter.metrics()[0]?.gauge?.dataPoints?.[0]?.asDouble;
const histogramIn = (meter: Meter) => meter.metrics()[1]?.histogram?.dataPoints?.[0];

it('asks for an order that does not exist, unsampled, and counts how long each response took', async () => {
  const { meter, gateway } = await aProbe(notFound);
  await expect.poll(() => successOf(meter)).toBe(1);
  await expect.poll(() => Number(histogramIn(meter)?.count)).toBeGreaterThan(2);
  expect(gateway.requests[0]?.path).toBe('/api/orders/00000000-0000-0000-0000-000000000000');
  expect(gateway.requests[0]?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  const { count, bucketCounts = [], sum } = histogramIn(meter) ?? {};
  expect(bucketCounts.reduce<number>((total, one) => total + Number(one), 0)).toBe(count);
  expect(sum).toBeGreaterThan(0);
});

it.each<[string, RequestListener, string]>([
  [
    'another status',
    (_, response) => response.writeHead(503).end('{"code":"orders_unreachable"}'),
    '503 orders_unreachable',
  ],
  [
    'a path that is not known',
    (_, response) => response.writeHead(404).end('{"code":"route_not_found"}'),
    '404 route_not_found',
  ],
  ['a response of something else', (_, response) => response.writeHead(404).end('<html>'), '404 without a problem'],
  ['a lost connection', (request) => request.socket.destroy(), 'socket hang up'],
])('fails by %s, which is reported once, and succeeds again', async (_what, respond, reason) => {
  const { meter, gateway, problems } = await aProbe(respond);
  await expect.poll(() => successOf(meter)).toBe(0);
  const seen = gateway.requests.length;
  await expect.poll(() => gateway.requests.length).toBeGreaterThan(seen + 2);
  expect(problems).toEqual([expect.stringContaining(reason)]);
  gateway.respond = notFound;
  await expect.poll(() => successOf(meter)).toBe(1);
  expect(problems.at(-1)).toBe('the probe succeeds again');
});

it('fails without a response in time', async () => {
  const { meter, problems } = await aProbe(() => undefined, { limitMs: 50 });
  await expect.poll(() => successOf(meter)).toBe(0);
  expect(problems).toEqual(['the probe fails: no response in time']);
});

it('fails where nothing listens', async () => {
  const { meter, close } = await aProbe(notFound);
  await expect.poll(() => successOf(meter)).toBe(1);
  await close();
  await expect.poll(() => successOf(meter)).toBe(0);
});

it('has no values, and asks nothing, while there is nothing to probe', async () => {
  const { meter, gateway } = await aProbe(notFound);
  await expect.poll(() => successOf(meter)).toBe(1);
  gateway.isWanted = false;
  await expect.poll(() => meter.metrics()).toEqual([]);
  const seen = gateway.requests.length;
  gateway.isWanted = true;
  await expect.poll(() => gateway.requests.length).toBeGreaterThan(seen);
});

it('is offered to Prometheus', async () => {
  const { meter } = await aProbe(notFound);
  await expect.poll(() => successOf(meter)).toBe(1);
  const store = createMetricStore({
    maxSeries: 10,
    maxInstances: 1,
    lastingNames: new Set(),
    maxEndedInstances: 0,
    staleAfterMs: 3_500,
  });
  store.replace(reportOf({ 'service.name': 'shopctl' }, 'Shop.Platform', meter.metrics()), Date.now());
  const text = prometheusText(store.reports(), Date.now());
  expect(text).toMatch(/^shop_probe_success\{.*\} 1$/m);
  expect(text).toMatch(/^shop_probe_duration_seconds_bucket\{.*le="2".*\} \d+$/m);
});
