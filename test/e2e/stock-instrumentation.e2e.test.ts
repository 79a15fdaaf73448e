// Goal: under OpenTelemetry's own SDK and instrumentations an order has the trace that it has by hand.
// Method: one platform with `--instrumentation stock`, checked by the same contracts; then the same platform with
// `manual`, whose spans are compared with the earlier ones.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Report } from '../../cli/src/counters/report.ts';
import { plainAttributes, type TracesData } from '../../cli/src/otlp/otlp-json.ts';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { installTool } from '../../cli/src/providers/resolve-tool.ts';
import { sharedCacheDir } from '../../cli/src/providers/testing.ts';
import { serviceNames } from '../../cli/src/topology/services.ts';
import type { TraceSpan } from '../../cli/src/trace/tree.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { type OrderOptions, place, send } from './support/client.ts';
import { placeAndCrash, untilReady } from './support/crash.ts';
import { eventually } from './support/eventually.ts';

const SPANS = 31;
/** Restart and recovery included; this machine is slow when it is busy. */
const RECORDED_MS = 30_000;
/** The only product that alone costs more than the payment limit. */
const UNAFFORDABLE = 12;

const packages = await installTool(
  'instrumentation',
  { root: cloneRoot(), cacheDir: sharedCacheDir(), env: process.env },
  () => undefined,
).then(
  () => true,
  (error: Error & { why?: string }) => {
    process.stderr.write(`skipped: stock instrumentation: ${error.message}\n${error.why ?? ''}\n`);
    return false;
  },
);

describe.skipIf(!packages)('under stock instrumentation', () => {
  let shop: TestPlatform;
  /** Of a confirmed order. */
  let stock: readonly TraceSpan[];
  beforeAll(async () => {
    const env = { SHOPCTL_INSTRUMENTATION: 'stock', SHOPCTL_FAILPOINTS: '1' };
    shop = await startPlatform({ project: 'e2e-stock', env });
  });
  afterAll(() => shop?.stop());

  async function expectTrace(traceId: string | undefined, contract: string): Promise<void> {
    const { code, stdout, stderr } = await shop.shopctl('trace', 'assert', traceId ?? '', '--contract', contract);
    expect(code, stdout + stderr).toBe(0);
  }

  async function spansOf(traceId: string | undefined, count: number): Promise<readonly TraceSpan[]> {
    const spans = async () => (await shop.telemetry.trace(traceId ?? '')).spans;
    const seen = async () => (await spans()).length;
    return eventually(`${count} spans`, { withinMs: RECORDED_MS, seen }, async () => {
      const now = await spans();
      return now.length === count && now;
    });
  }

  it(`a confirmed order has ${SPANS} spans in six services, which the instrumentations made`, async () => {
    const { status, traceId } = await place(shop);
    expect(status).toBe(201);
    await expectTrace(traceId, 'confirmed');
    stock = await spansOf(traceId, SPANS);
    const { body } = await send(`${shop.telemetryUrl}/api/traces/${traceId}`);
    expect(scopesIn(body)).toEqual({
      '@opentelemetry/instrumentation-amqplib': 2,
      '@opentelemetry/instrumentation-grpc': 2,
      '@opentelemetry/instrumentation-http': 4,
      '@opentelemetry/instrumentation-pg': 15,
      '@opentelemetry/instrumentation-undici': 3,
      // The saga's own steps, and the statement that marks several events.
      shop: 5,
    });
    expect(releasesIn(body)).toEqual(releases());
  });

  it('a declined order has the trace of its contract', async () => {
    const { body, traceId } = await place(shop, { lines: [{ productId: UNAFFORDABLE, quantity: 1 }] });
    expect(body).toMatchObject({ status: 'Cancelled', reason: 'payment declined' });
    await expectTrace(traceId, 'declined');
  });

  it('a replayed order has the trace of its contract', async () => {
    const key = randomUUID();
    const [first, second] = [await place(shop, { key }), await place(shop, { key })];
    expect(second).toMatchObject({ status: 201, body: { id: first.body?.id } });
    await expectTrace(second.traceId, 'replayed');
  });

  it('an order that another process recovered has the trace of its contract', async () => {
    const { response } = await placeAndCrash(shop, 'orders.stock-reserved:saved', { key: randomUUID() });
    expect(response).toMatchObject({ status: 504 });
    await untilReady(shop, 'orders');
    await expectTrace(response?.traceId, 'recovered');
  });

  it(`20 orders at a time have ${SPANS} spans each, all their own`, async () => {
    // Orders that a process has not warmed up for may need a second attempt, and orders has just been started.
    for (let warm = 0; warm < 5; warm++) expect(await place(shop)).toMatchObject({ status: 201 });
    const orders = await Promise.all(Array.from({ length: 20 }, () => place(shop)));
    expect(orders.map(({ status }) => status)).toEqual(orders.map(() => 201));
    for (const { traceId } of orders) expect(outline(await spansOf(traceId, SPANS))).toEqual(outline(stock));
  });

  it('an untrusted client keeps its trace id, and its sampled flag does not bind', async () => {
    const traceId = randomUUID().replaceAll('-', '');
    const { status, headers } = await send(`${shop.gatewayUrl}/api/orders`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        traceparent: `00-${traceId}-b7ad6b7169203331-00`,
        tracestate: 'a=b',
        baggage: 'secret=1',
      },
      body: JSON.stringify({ customer: 'a client', lines: [{ productId: 1, quantity: 1 }] } satisfies Body),
    });
    expect([status, headers.traceparent]).toEqual([201, expect.stringMatching(`^00-${traceId}-.{16}-01$`)]);
    await expectTrace(traceId, 'confirmed');
    const { text } = await send(`${shop.telemetryUrl}/api/traces/${traceId}`);
    expect(text).not.toMatch(/a=b|secret/);
  });

  it('rate, errors and duration are those of the same operations', async () => {
    const { code, stdout, stderr } = await shop.shopctl('counters', '--once', '--json');
    expect(code, stderr).toBe(0);
    const { red } = JSON.parse(stdout) as Report;
    const operations = red.filter(({ total }) => total > 0).map(({ service, operation }) => `${service} ${operation}`);
    expect(operations.toSorted()).toEqual([
      'catalog GET /products/{id:int}',
      'gateway POST /api/orders/{**rest}',
      'orders POST /orders',
      'payments POST /payments',
      'shipping deliver order.confirmed',
      'stock stock.Inventory/Release',
      'stock stock.Inventory/Reserve',
    ]);
  });

  it('the same platform with manual instrumentation has the same tree, and no attribute that stock lacks but these', async () => {
    const up = await shop.shopctl('up', '--instrumentation', 'manual', '--json');
    expect(up.code, up.stderr).toBe(0);
    expect(JSON.parse(up.stdout)).toMatchObject({ instrumentation: 'manual' });
    const { traceId } = await place(shop);
    await expectTrace(traceId, 'confirmed');
    const manual = await spansOf(traceId, SPANS);
    expect(outline(stock)).toEqual(outline(manual));
    expect(missing(manual, stock)).toEqual(ONLY_MANUAL);
    expect(missing(stock, manual)).toEqual(ONLY_STOCK);
    expect(releasesIn((await send(`${shop.telemetryUrl}/api/traces/${traceId}`)).body)).toEqual(releases());
    const { instances } = await shop.state();
    const services = instances.filter(({ kind }) => kind === 'service');
    expect(services.map(({ service, version, track }) => `${service} ${version} ${track}`).toSorted()).toEqual(
      releases(),
    );
    expect((await shop.shopctl('status')).stdout).toMatch(/^version of the services: \d/m);
    expect((await shop.logs('orders')).at(-1)).toMatchObject({ version: versionOf('orders'), track: 'stable' });
  });
});

/** Attributes that one of both alone sets; docs/traces.md has them. */
const ONLY_MANUAL: readonly string[] = ['rpc server: network.peer.address', 'rpc server: network.peer.port'];
const ONLY_STOCK: readonly string[] = [
  'db client: db.postgresql.plan',
  'http client: http.request.method_original',
  'http client: network.peer.address',
  'http client: network.peer.port',
  'http client: network.protocol.version',
  'http client: url.query',
];

interface Body {
  readonly customer: string;
  readonly lines: OrderOptions['lines'];
}

/** What its package.json says. */
function versionOf(service: string): string {
  const text = readFileSync(join(cloneRoot(), 'services', service, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** Service, version and track of all six. */
const releases = () => serviceNames.map((name) => `${name} ${versionOf(name)} stable`).toSorted();

/** The same of the resources of a trace, each once. */
function releasesIn(body: unknown): readonly string[] {
  const { result } = body as { result: TracesData };
  const resources = (result.resourceSpans ?? []).map(({ resource }) => plainAttributes(resource?.attributes));
  const releaseOf = (one: (typeof resources)[number]) =>
    `${one['service.name']} ${one['service.version']} ${one['shop.track']}`;
  return [...new Set(resources.map(releaseOf))].toSorted();
}

/** Names of a trace's instrumentation scopes, with how many spans each made. */
function scopesIn(body: unknown): Record<string, number> {
  interface Scoped {
    readonly result: {
      readonly resourceSpans: readonly {
        readonly scopeSpans: readonly {
          readonly scope: { readonly name: string };
          readonly spans: readonly unknown[];
        }[];
      }[];
    };
  }
  const counts: Record<string, number> = {};
  for (const { scope, spans } of (body as Scoped).result.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans)) {
    counts[scope.name] = (counts[scope.name] ?? 0) + spans.length;
  }
  return counts;
}

/** Each span with its way from the root, in an order that times do not change. */
function outline(spans: readonly TraceSpan[]): readonly string[] {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const pathOf = (span: TraceSpan): string => {
    const parent = byId.get(span.parentSpanId ?? '');
    const own = `${span.service} ${span.kind} ${span.name}`;
    return parent === undefined ? own : `${pathOf(parent)} > ${own}`;
  };
  return spans.map(pathOf).toSorted();
}

/** `kind attribute` of each attribute that spans of `there` have and those of `here` have not. */
function missing(there: readonly TraceSpan[], here: readonly TraceSpan[]): readonly string[] {
  const has = attributesIn(here);
  return [...attributesIn(there)].filter((one) => !has.has(one)).toSorted();
}

function attributesIn(spans: readonly TraceSpan[]): ReadonlySet<string> {
  const kindOf = ({ attributes, kind }: TraceSpan) => {
    const system = ['http.request.method', 'rpc.system.name', 'db.system.name', 'messaging.system'].find(
      (name) => attributes[name] !== undefined,
    );
    return `${system?.split('.')[0] ?? 'own'} ${kind}`;
  };
  return new Set(spans.flatMap((span) => Object.keys(span.attributes).map((name) => `${kindOf(span)}: ${name}`)));
}
