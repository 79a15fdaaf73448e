/**
 * The collector's configuration, run for real: Jaeger 2 is a distribution of the OpenTelemetry Collector with the parts
 * that ours uses, and it is what the platform has. What is scraped must be what KEDA asks for.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { otlpAttributes } from '../../cli/src/otlp/otlp-json.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../../cli/src/otlp/receiver.ts';
import { findOnPath, newestFirst } from '../../cli/src/providers/executables.ts';
import { sharedCacheDir } from '../../cli/src/providers/testing.ts';
import { poll } from '../../cli/src/shared/wait-until.ts';
import { freePort } from '../support/free-port.ts';

const START_LIMIT_MS = 30_000;
const root = new URL('../../', import.meta.url).pathname;
const jaeger =
  (await findOnPath('jaeger', process.env)) ?? (await newestFirst(join(sharedCacheDir(), 'jaeger-*/jaeger')))[0];
if (jaeger === undefined) console.warn('Jaeger is neither installed nor in the cache: the collector is not run');

let folder: string;
let collector: ChildProcess;
let ports: { otlp: number; metrics: number };
/** Takes the place of the log backend. */
let backend: OtlpReceiver;
let log = '';

beforeAll(async () => {
  if (jaeger === undefined) return;
  folder = await mkdtemp(join(tmpdir(), 'shop-collector-'));
  ports = { otlp: await freePort(), metrics: await freePort() };
  backend = await startOtlpReceiver({ host: '127.0.0.1', port: 0 });
  const file = join(folder, 'collector.json');
  await writeFile(file, JSON.stringify(onLoopback(ports)));
  const traces = `http://127.0.0.1:${ports.otlp}`;
  const env = { PATH: '/usr/bin:/bin', TRACES_ENDPOINT: traces, LOGS_ENDPOINT: backend.url };
  collector = spawn(jaeger, [`--config=${file}`], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  collector.stderr?.on('data', (text) => {
    log += text;
  });
  await until('the collector listens', () => scrape());
}, START_LIMIT_MS);

afterAll(async () => {
  if (jaeger === undefined) return;
  const ended = once(collector, 'exit');
  collector.kill('SIGTERM');
  await ended;
  await backend.close();
  await rm(folder, { recursive: true, force: true });
});

/** The file as it is deployed, but for its addresses and the health listener, which Jaeger does not have. */
function onLoopback({ otlp, metrics }: typeof ports): object {
  const config = parse(readFileSync(`${root}deploy/base/telemetry/collector.yaml`, 'utf8'));
  config.receivers.otlp.protocols.http.endpoint = `127.0.0.1:${otlp}`;
  config.exporters.prometheus.endpoint = `127.0.0.1:${metrics}`;
  // Our receiver takes JSON.
  config.exporters['otlphttp/logs'].encoding = 'json';
  config.service.telemetry = { metrics: { level: 'none' } };
  delete config.extensions;
  delete config.service.extensions;
  return config;
}

/** A report such as the services send: OTLP over HTTP in JSON, a gauge and a counter. */
function aReport(instance: string, pending: number): object {
  const timeUnixNano = String(Date.now() * 1_000_000);
  const attributes = (values: Record<string, string>) =>
    Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }));
  const counter = [{ asInt: '7', timeUnixNano, attributes: attributes({ outcome: 'shipped' }) }];
  return {
    resourceMetrics: [
      {
        resource: { attributes: attributes({ 'service.name': 'orders', 'service.instance.id': instance }) },
        scopeMetrics: [
          {
            scope: { name: 'Shop.Orders' },
            metrics: [
              { name: 'shop.outbox.pending', gauge: { dataPoints: [{ asInt: String(pending), timeUnixNano }] } },
              {
                name: 'shop.shipping.messages',
                sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: counter },
              },
            ],
          },
        ],
      },
    ],
  };
}

it.skipIf(jaeger === undefined)('offers what the services report under the names that KEDA asks for', async () => {
  const response = await fetch(`http://127.0.0.1:${ports.otlp}/v1/metrics`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(aReport('orders-7d9f8b6c5d-x2k9p', 12)),
  });
  expect(response.status).toBe(200);
  const scraped = await until('the report is offered', async () => {
    const text = await scrape();
    return text.includes('shop_outbox_pending') ? text : undefined;
  });
  const [scaled] = parse(readFileSync(`${root}deploy/components/keda/orders.yaml`, 'utf8')).spec.triggers.filter(
    ({ type }: { type: string }) => type === 'prometheus',
  );
  const asked: string[] = scaled.metadata.query.match(/shop_\w+/g);
  expect(asked.length).toBeGreaterThan(0);
  for (const name of asked)
    expect(scraped).toMatch(new RegExp(`^${name}\\{.*instance="orders-7d9f8b6c5d-x2k9p".*\\} \\d+`, 'm'));
});

/** Every kind of instrument, unit and character that a name or a label is changed for. */
function anEveryKindReport(): object {
  const timeUnixNano = String(Date.now() * 1_000_000);
  const attributes = otlpAttributes({ edge: 'orders-payments', 'http.request.method': 'POST', 'shop.ok': true, n: 3 });
  const number = { asDouble: 2.5, timeUnixNano, startTimeUnixNano: timeUnixNano, attributes };
  const gauge = (name: string, unit: string) => ({ name, unit, gauge: { dataPoints: [number] } });
  const sum = (name: string, unit: string, isMonotonic: boolean) => {
    return { name, unit, sum: { aggregationTemporality: 2, isMonotonic, dataPoints: [number] } };
  };
  const histogram = (name: string, unit: string) => {
    const point = {
      ...number,
      count: '6',
      sum: 42.5,
      explicitBounds: [0.005, 5, 10],
      bucketCounts: ['1', '2', '3', '0'],
    };
    return {
      name,
      unit,
      description: 'a "quoted" \\ text',
      histogram: { aggregationTemporality: 2, dataPoints: [point] },
    };
  };
  const metrics = [
    gauge('shop.outbox.oldest.age', 's'),
    gauge('process.cpu.utilization', '1'),
    gauge('disk.read', 'By/s'),
    gauge('2xx.share', '%'),
    gauge('shop.replicas.ejected', '{replica}'),
    sum('shop.sagas', '', true),
    sum('shop.total.orders', '{order}', true),
    sum('process.cpu.time', 's', true),
    sum('http.server.active_requests', '{request}', false),
    histogram('shop.saga.duration', 'ms'),
    histogram('http.server.request.duration', 's'),
  ];
  const resource = {
    'service.name': 'payments',
    'service.namespace': 'shop',
    'service.instance.id': 'payments-1',
    'service.version': '0.2.0',
    'process.pid': 4_711,
  };
  const scopeMetrics = [{ scope: { name: 'Shop.Payments' }, metrics }];
  return { resourceMetrics: [{ resource: { attributes: otlpAttributes(resource) }, scopeMetrics }] };
}

it.skipIf(jaeger === undefined)(
  'offers the series that GET /metrics of the supervisor offers, line by line',
  async () => {
    await using receiver = await startOtlpReceiver({ host: '127.0.0.1', port: 0 });
    const body = JSON.stringify(anEveryKindReport());
    for (const base of [`http://127.0.0.1:${ports.otlp}`, receiver.url]) {
      const headers = { 'content-type': 'application/json' };
      expect((await fetch(`${base}/v1/metrics`, { method: 'POST', headers, body })).status).toBe(200);
    }
    const ofPayments = (text: string) => text.split('\n').filter((line) => line.includes('shop/payments'));
    const collected = await until('the report is offered', async () => {
      const lines = ofPayments(await scrape());
      return lines.length > 0 ? lines : undefined;
    });
    const own = await fetch(`${receiver.url}/metrics`);
    expect(own.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect(ofPayments(await own.text()).toSorted()).toEqual(collected.toSorted());
    expect(collected).toHaveLength(22);
  },
);

it.skipIf(jaeger === undefined)('sends log records on with their trace, span and severity', async () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const record = {
    timeUnixNano: String(Date.now() * 1_000_000),
    severityNumber: 13,
    severityText: 'WARN',
    body: { stringValue: 'the database is unavailable' },
    attributes: otlpAttributes({ edge: 'orders-db' }),
    traceId,
    spanId: 'b7ad6b7169203331',
  };
  const resource = { attributes: otlpAttributes({ 'service.name': 'orders', 'service.instance.id': 'orders-1' }) };
  const response = await fetch(`http://127.0.0.1:${ports.otlp}/v1/logs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords: [record] }] }] }),
  });
  expect(response.status).toBe(200);
  const [received] = await until('the record has arrived', async () => {
    const records = backend.logs.ofTrace(traceId);
    return records.length > 0 ? records : undefined;
  });
  expect(received).toMatchObject({
    service: 'orders',
    instance: 'orders-1',
    level: 'warn',
    message: 'the database is unavailable',
    spanId: 'b7ad6b7169203331',
    attributes: { edge: 'orders-db' },
  });
});

async function scrape(): Promise<string> {
  return (await fetch(`http://127.0.0.1:${ports.metrics}/metrics`)).text();
}

/** Asks again until there is a response. Throws with the collector's own words when it has ended, or after the limit. */
async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + START_LIMIT_MS;
  const askOnce = async (): Promise<T | undefined> => {
    const response = await ask().catch(() => undefined);
    if (response !== undefined) return response;
    if (collector.exitCode !== null || performance.now() > deadline) throw new Error(`waiting: ${what}\n${log}`);
    return undefined;
  };
  return poll(askOnce, { everyMs: 50 });
}
