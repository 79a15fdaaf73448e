/*
 * Goal: what no service can say about itself is measured, also while services are stopped.
 * Method: a real platform, whose supervisor's metrics are read as Prometheus reads them.
 */
import { randomUUID } from 'node:crypto';
import { PROBE_PATH } from '@shop/kit/probe.ts';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LogStats } from '../../cli/src/otlp/log-store.ts';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { isAlive, type ProcessIdentity } from '../../cli/src/process/process-identity.ts';
import { loadOrCreateSecrets } from '../../cli/src/providers/secrets.ts';
import { databaseUrl } from '../../cli/src/providers/urls.ts';
import { requirePrometheus } from '../../cli/src/shop/prometheus.ts';
import { readSlos } from '../../cli/src/slo/catalog.ts';
import { serviceNames } from '../../cli/src/topology/services.ts';
import { WINDOW } from '../../dashboards/model.ts';
import { pagesOf } from '../../dashboards/pages.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { havePrometheus } from '../support/prometheus.ts';
import { place } from './support/client.ts';

const LIMIT = { timeout: 20_000, interval: 100 };

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startPlatform({
    project: 'e2e-monitoring',
    env: { SHOPCTL_PROBE: 'on', OTEL_LOGS_EXPORTER: 'otlp', LOG_LEVEL: 'debug' },
  });
});
/** Runs when the platform is ended. */
let prometheus: ProcessIdentity | undefined;
afterAll(async () => {
  await platform?.stop();
  if (prometheus) expect(await isAlive(prometheus)).toBe(false);
});

/** The value of a series of the supervisor; undefined where it has none. */
async function readValue(name: string, ...labels: readonly string[]): Promise<number | undefined> {
  const text = await (await fetch(`${platform.telemetryUrl}/metrics`)).text();
  const own = text.split('\n').filter((line) => line.startsWith(`${name}{`) && line.includes('job="shopctl"'));
  const line = own.find((one) => labels.every((label) => one.includes(label)));
  return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ') + 1));
}

it('what the queue holds while shipping is stopped, and that it has no consumer', async () => {
  const messages = () => readValue('shop_queue_messages', 'queue="shipping.order-confirmed"');
  const consumers = () => readValue('shop_queue_consumers', 'queue="shipping.order-confirmed"');
  await expect.poll(consumers, LIMIT).toBe(1);
  await platform.shopctl('stop', 'shipping');
  await place(platform);
  await expect.poll(messages, LIMIT).toBe(1);
  expect(await consumers()).toBe(0);
  await platform.shopctl('start', 'shipping');
  await expect.poll(messages, LIMIT).toBe(0);
  await expect.poll(consumers, LIMIT).toBe(1);
});

it('that a stopped gateway serves no client; its probes leave no span and no line', async () => {
  await expect.poll(() => readValue('shop_probe_success'), LIMIT).toBe(1);
  await platform.shopctl('stop', 'gateway');
  await expect.poll(() => readValue('shop_probe_success'), LIMIT).toBe(0);
  await platform.shopctl('start', 'gateway');
  await expect.poll(() => readValue('shop_probe_success'), LIMIT).toBe(1);
  expect(await readValue('shop_probe_duration_seconds_count')).toBeGreaterThan(2);
  // An order shows that requests of clients are traced and logged.
  await place(platform);
  const found = async () => {
    const query = 'query.service_name=gateway&query.search_depth=200';
    return (await fetch(`${platform.telemetryUrl}/api/v3/traces?${query}`)).text();
  };
  await expect.poll(found, LIMIT).toContain('/api/orders');
  expect(await found()).not.toContain(PROBE_PATH);
  const lines = (await platform.logs('gateway')).filter(({ msg }) => msg === 'request completed');
  expect(lines.map((line) => (line as unknown as { method: string }).method)).toEqual(['POST', 'POST']);
});

it('each log line of an order once, whether it came over OTLP or from standard output', async () => {
  const { headers } = await fetch(`${platform.gatewayUrl}/api/orders/${randomUUID()}`);
  const traceId = headers.get('traceparent')?.split('-')[1] ?? '';
  const logStats = async () => {
    const stats = (await (await fetch(`${platform.telemetryUrl}/api/stats`)).json()) as { logs: LogStats };
    return stats.logs;
  };
  const written = async () => (await platform.logs()).filter(({ trace_id }) => trace_id === traceId);
  const kept = async () =>
    (await platform.telemetry.logs(traceId)).map(({ service, message }) => `${service}: ${message}`);
  const expected = ['gateway: request completed', 'orders: request completed', 'orders: request rejected'];
  await expect.poll(async () => (await kept()).toSorted(), LIMIT).toEqual(expected);
  // Both ways have brought everything when no more lines are new.
  const { duplicateRecords } = await logStats();
  await expect.poll(async () => (await logStats()).duplicateRecords, LIMIT).toBeGreaterThan(duplicateRecords);
  expect((await kept()).toSorted()).toEqual(expected);
  expect((await written()).map(({ service, msg }) => `${service}: ${msg}`).toSorted()).toEqual(expected);
  const sent = async () => {
    const points = await platform.telemetry.metrics(['shop.telemetry.logs']);
    const exported = points.filter(({ attributes }) => attributes.state === 'exported');
    return new Set(exported.map(({ service }) => service));
  };
  await expect.poll(async () => [...(await sent())].toSorted(), LIMIT).toEqual([...serviceNames].toSorted());
});

it('a second parcel of an order, which audit --watch prints once, and up --audit counts', async () => {
  const watchFor = (duration: string) =>
    platform.shopctl('audit', '--watch', '--every', '1s', '--for', duration, '--json');
  expect(await watchFor('1s')).toMatchObject({ code: 0, stdout: '' });
  const { body } = await place(platform);
  const orderId = String(body?.id);
  // Its shipment is there, and the order is old enough to be checked.
  const shipping = 'INSERT INTO parcels (order_id, lines) SELECT order_id, lines FROM parcels WHERE order_id = $1';
  await expect.poll(() => asService('shipping', shipping, orderId), LIMIT).toBe(1);
  await asService('orders', "UPDATE orders SET created_at = created_at - interval '1 minute' WHERE id = $1", orderId);
  const { code, stdout } = await watchFor('1s');
  expect(code).toBe(1);
  const [found, ...others] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(found).toMatchObject({ type: 'violation', invariant: 'I7', kind: 'duplicated', orderId, detail: '2 parcels' });
  expect(others).toEqual([]);
  await expect.poll(() => readValue('shop_audit_violations'), LIMIT).toBeUndefined();
  await platform.shopctl('up', '--audit');
  const violations = () => readValue('shop_audit_violations', 'invariant="I7"', 'kind="duplicated"');
  await expect.poll(violations, LIMIT).toBe(1);
  await platform.shopctl('up', '--no-audit');
  await expect.poll(violations, LIMIT).toBeUndefined();
});

it.skipIf(!(await havePrometheus()))(
  'up --with alerts adds Prometheus, which is asked for the outbox, and is started again when it was killed',
  async () => {
    expect(await platform.shopctl('up', '--with', 'alerts', '--json')).toMatchObject({ code: 0 });
    const client = async () => requirePrometheus(await platform.state());
    const outbox = async () => (await (await client()).queryInstant('timestamp(shop_outbox_pending)')).at(0);
    await expect.poll(outbox, LIMIT).toMatchObject({ labels: { job: 'orders', instance: 'orders-1' } });
    const { process: first } = await platform.instance('prometheus');
    const killedAt = Date.now();
    process.kill(first?.pid ?? 0, 'SIGKILL');
    await expect.poll(async () => (await platform.instance('prometheus')).crashes, LIMIT).toBe(1);
    await expect.poll(async () => (await platform.instance('prometheus')).status, LIMIT).toBe('ready');
    await expect.poll(async () => (await outbox())?.value, LIMIT).toBeGreaterThan(killedAt / 1000);
    // Who does not say otherwise leaves it as it is.
    await platform.shopctl('up', 'orders');
    expect((await platform.instance('prometheus')).status).toBe('ready');
    expect((await platform.shopctl('status')).stdout).toMatch(/^alerts: Prometheus at http:\/\/127\.0\.0\.1:\d+$/m);
    await platform.shopctl('up', 'orders', '--without', 'alerts');
    await expect(client()).rejects.toMatchObject({ code: 'alerts_off', exitCode: 3 });
    await platform.shopctl('up', 'orders', '--with', 'alerts');
    ({ process: prometheus } = await platform.instance('prometheus'));
    expect(prometheus).toBeDefined();
  },
);

/** What a panel needs that this test does not do: a canary takes another release. */
const NOT_DONE = 'a canary with a share of the requests';
/** What needs a process that ends and begins again, which Prometheus has to have seen before. */
const AFTER_AN_END = ['a process that ended in the last 15 s', 'an alert with the severity cause'];

it.skipIf(!(await havePrometheus()))('data for each expression of each panel', { timeout: 240_000 }, async () => {
  expect(await platform.shopctl('up', '--with', 'alerts', '--audit', '--json')).toMatchObject({ code: 0 });
  const flag = await platform.shopctl('flags', 'set', 'publish-order-confirmed-v2', '--percent', '50');
  expect(flag).toMatchObject({ code: 0 });
  const prometheus = requirePrometheus(await platform.state());
  const hasData = async (expr: string) =>
    (await prometheus.queryInstant(expr)).some(({ value }) => !Number.isNaN(value));
  let waiting = (await expressionsOfPanels()).filter(({ after }) => after !== NOT_DONE);
  /** Places orders, and looks at those that had no data so far. */
  const withoutData = async (...ignored: readonly string[]) => {
    await Promise.all(Array.from({ length: 5 }, () => place(platform)));
    const found = await Promise.all(
      waiting.map(async ({ exprs }) => (await Promise.all(exprs.map(hasData))).some((one) => one)),
    );
    waiting = waiting.filter((_, index) => !found[index]);
    return waiting.filter(({ after = '' }) => !ignored.includes(after)).map(({ name }) => name);
  };
  const limit = { timeout: 60_000, interval: 1_000 };
  await expect.poll(() => withoutData(...AFTER_AN_END), limit).toEqual([]);
  await platform.shopctl('stop', 'catalog');
  await expect.poll(() => withoutData('an alert with the severity cause'), LIMIT).toEqual([]);
  await platform.shopctl('start', 'catalog');
  await expect.poll(() => withoutData(), limit).toEqual([]);
});

interface PanelExpression {
  readonly name: string;
  readonly after: string | undefined;
  /** One of them needs data. */
  readonly exprs: readonly string[];
}

/** With a service in the place of its variable. An expression has data for each of them, unless its panel says that it has not. */
async function expressionsOfPanels(): Promise<readonly PanelExpression[]> {
  const pages = pagesOf(await readSlos(cloneRoot()));
  const plain = (expr: string) =>
    expr.replaceAll(WINDOW, '1m').replaceAll('$instance', '.*').replaceAll('$track', '.*');
  return pages.flatMap(({ id, rows }) =>
    rows.flatMap(({ panels }) =>
      panels.flatMap(({ title, after, queries }) =>
        queries.flatMap(({ expr, legend }): readonly PanelExpression[] => {
          const name = `${id}, ${title}: ${legend}`;
          if (!expr.includes('$service')) return [{ name, after, exprs: [plain(expr)] }];
          const ofServices = serviceNames.map((service) => plain(expr.replaceAll('$service', service)));
          if (after !== undefined) return [{ name, after, exprs: ofServices }];
          return ofServices.map((one, index) => ({ name: `${name} of ${serviceNames[index]}`, after, exprs: [one] }));
        }),
      ),
    ),
  );
}

/** Runs a statement as a service, which may change its own rows; gives how many it changed. */
async function asService(database: 'orders' | 'shipping', text: string, orderId: string): Promise<number> {
  const address = (await platform.instance('postgres')).address as { host: string; port: number };
  const secrets = await loadOrCreateSecrets(platform.project.secretsFile);
  const client = new pg.Client({ connectionString: databaseUrl('service', database, { address, secrets }) });
  await client.connect();
  try {
    return (await client.query(text, [orderId])).rowCount ?? 0;
  } finally {
    await client.end();
  }
}
