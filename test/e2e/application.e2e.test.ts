// Goal: the whole application ships an order and declines another one, and Jaeger and the built-in trace store have the
// same trace of an order.
// Method: the application is started once for the class, against a real PostgreSQL and RabbitMQ: containers by
// Testcontainers where an engine responds, processes otherwise; the output says which.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inspectionContext } from '../../cli/src/platform/component-context.ts';
import { cloneRoot, openProject } from '../../cli/src/platform/project.ts';
import { describeProviders } from '../../cli/src/providers/resolve.ts';
import { readSpans, type TraceSpan } from '../../cli/src/trace/tree.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { place, send } from './support/client.ts';
import { eventually } from './support/eventually.ts';
import { type Servers, startServers } from './support/servers.ts';

/** Containers may have to be made first. */
const READINESS_LIMIT_MS = 180_000;
const SHIPMENT_LIMIT_MS = 15_000;
/** The only product that alone costs more than the payment limit. */
const UNAFFORDABLE = 12;
const SPANS = 31;

const jaeger = await jaegerHere();
let folder: string;
let servers: Servers;
let shop: TestPlatform;
beforeAll(async () => {
  servers = await startServers();
  folder = await mkdtemp(join(tmpdir(), 'shop-application-'));
  const config = join(folder, 'shopctl.json');
  await writeFile(config, JSON.stringify({ providers: jaeger === undefined ? {} : { jaeger } }));
  shop = await startPlatform({ project: 'application', env: { ...servers.env, SHOPCTL_CONFIG: config } });
  for (const name of ['gateway-1', 'orders-1', 'shipping-1']) await expectHealthy(name);
}, READINESS_LIMIT_MS + 60_000);
afterAll(async () => {
  await shop?.stop();
  await servers?.stop();
  await rm(folder, { recursive: true });
});

async function expectHealthy(name: string): Promise<void> {
  const { url } = await shop.instance(name);
  await eventually(`${name} to be healthy`, { withinMs: READINESS_LIMIT_MS }, async () => {
    return (await send(`${url}/health/ready`)).status === 200;
  });
}

it('a valid order is confirmed with 201, and within 15 s one shipment has its id', async () => {
  const { status, body } = await place(shop, { lines: [{ productId: 1, quantity: 1 }] });
  expect(status).toBe(201);
  expect(body).toMatchObject({ status: 'Confirmed' });
  const shipments = () => shop.query('shipping', 'SELECT 1 FROM "Shipments" WHERE "OrderId" = $1', [body?.id]);
  await eventually('the shipment', { withinMs: SHIPMENT_LIMIT_MS }, async () => (await shipments()).length > 0);
  expect(await shipments()).toHaveLength(1);
});

it('an order above the payment limit is cancelled: payment declined', async () => {
  const { body } = await place(shop, { lines: [{ productId: UNAFFORDABLE, quantity: 1 }] });
  expect(body).toMatchObject({ status: 'Cancelled', reason: 'payment declined' });
});

it('runs against the servers that were started for it', async () => {
  const { instances } = await shop.state();
  const providers = ['postgres', 'rabbitmq'].map((name) => instances.find((one) => one.name === name)?.provider);
  if (servers.env.SHOPCTL_POSTGRES_URL === undefined) expect(providers).not.toContain('url');
  else expect(providers).toEqual(['url', 'url']);
});

describe.skipIf(jaeger === undefined)('Jaeger and the built-in store', () => {
  it('have the same trace of the same order, span by span', async () => {
    const { traceId = '' } = await place(shop);
    const both = async () => Promise.all([spansAt(`/api/v3/traces/${traceId}`), spansAt(`/api/traces/${traceId}`)]);
    const isWhole = async () => (await both()).every((spans) => spans.length === SPANS);
    const seen = async () => (await both()).map((spans) => spans.length);
    await eventually('all spans in both', { withinMs: SHIPMENT_LIMIT_MS, seen }, isWhole);
    const [ofJaeger, builtIn] = await both();
    expect(ofJaeger).toEqual(builtIn);
  });

  it('trace assert checks what the supervisor has, beside a Jaeger', async () => {
    expect((await shop.instance('jaeger')).status).toBe('ready');
    const { traceId = '' } = await place(shop);
    const { code, stdout, stderr } = await shop.shopctl('trace', 'assert', traceId);
    expect(code, stdout + stderr).toBe(0);
  });
});

/** Jaeger's own attributes of the spans it returns: no service sent them. */
const JAEGER_NOTE = /^@jaeger@/;

async function spansAt(path: string): Promise<readonly TraceSpan[]> {
  const { status, body } = await send(`${shop.telemetryUrl}${path}`);
  if (status === 404) return [];
  expect(status).toBe(200);
  const asSent = (span: TraceSpan) => ({
    ...span,
    attributes: Object.fromEntries(Object.entries(span.attributes).filter(([name]) => !JAEGER_NOTE.test(name))),
  });
  return readSpans((body as { result: object }).result)
    .map(asSent)
    .sort((a, b) => (a.spanId < b.spanId ? -1 : 1));
}

/** How Jaeger is available here without building or pulling it; why not is printed. */
async function jaegerHere(): Promise<string | undefined> {
  const project = openProject('application', cloneRoot(), process.env);
  const ways = (await describeProviders(inspectionContext(project, process.env))).jaeger;
  const way = ways.find(({ available }) => available);
  if (way === undefined) {
    const why = ways.map(({ kind, detail }) => `${kind}: ${detail}`).join('; ');
    process.stderr.write(`skipped: Jaeger and the built-in store: no Jaeger here (${why})\n`);
  }
  return way?.kind;
}
