// Goal: with a Jaeger, spans reach it through our receiver, and traces are read from it.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { createBackend } from '../trace/backend.ts';
import { createJaegerRelay, type JaegerRelay } from './jaeger-relay.ts';
import type { TracesData } from './otlp-json.ts';
import { type OtlpReceiver, startOtlpReceiver } from './receiver.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const exported = (name: string): TracesData =>
  ({
    resourceSpans: [
      { resource: { attributes: [] }, scopeSpans: [{ spans: [{ traceId: TRACE, spanId: '00f067aa0ba902b7', name }] }] },
    ],
  }) as unknown as TracesData;

interface FakeJaeger {
  readonly url: string;
  readonly taken: string[];
  refuse: boolean;
  server: Server;
}

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** Takes exports on /v1/traces, and responds to a trace with the names of the spans it has. */
async function fakeJaeger(): Promise<FakeJaeger> {
  const jaeger = { url: '', taken: [] as string[], refuse: false } as FakeJaeger;
  jaeger.server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      const body = JSON.parse(await text(request));
      if (!jaeger.refuse) jaeger.taken.push(body.resourceSpans[0].scopeSpans[0].spans[0].name);
      return void response.writeHead(jaeger.refuse ? 503 : 200).end('{}');
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ path: request.url, taken: jaeger.taken }));
  });
  await new Promise<void>((resolve) => jaeger.server.listen(0, '127.0.0.1', resolve));
  opened.push({
    close() {
      jaeger.server.closeAllConnections();
      jaeger.server.close();
    },
  });
  return Object.assign(jaeger, { url: `http://127.0.0.1:${(jaeger.server.address() as AddressInfo).port}` });
}

function relayTo(jaeger: FakeJaeger, said: string[] = []): JaegerRelay {
  const relay = createJaegerRelay({ otlpUrl: jaeger.url, queryUrl: jaeger.url }, (message) => said.push(message));
  opened.push(relay);
  return relay;
}

async function receiver(): Promise<OtlpReceiver> {
  const started = await startOtlpReceiver({ host: '127.0.0.1', port: 0 });
  opened.unshift(started);
  return started;
}

const post = (url: string, body: TracesData) =>
  fetch(`${url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

it('passes the spans that services export on to Jaeger, and reads traces from it', async () => {
  const jaeger = await fakeJaeger();
  const telemetry = await receiver();
  telemetry.relay(relayTo(jaeger));
  expect((await post(telemetry.url, exported('POST'))).status).toBe(200);
  await expect.poll(() => jaeger.taken).toEqual(['POST']);
  const response = await fetch(`${telemetry.url}/api/v3/traces/${TRACE}?start_time=1`);
  expect(await response.json()).toEqual({ path: `/api/v3/traces/${TRACE}?start_time=1`, taken: ['POST'] });
});

it('is not what assertions read: a span that Jaeger does not take is there all the same', async () => {
  const jaeger = await fakeJaeger();
  const telemetry = await receiver();
  telemetry.relay(relayTo(jaeger));
  jaeger.refuse = true;
  await post(telemetry.url, exported('POST'));
  expect((await createBackend(telemetry.url).trace(TRACE)).spans).toMatchObject([{ name: 'POST' }]);
});

it('keeps spans while Jaeger refuses them and sends them in order when it takes them', async () => {
  const jaeger = await fakeJaeger();
  const said: string[] = [];
  const relay = relayTo(jaeger, said);
  jaeger.refuse = true;
  for (const name of ['first', 'second', 'third']) relay.forward(exported(name));
  await expect.poll(() => said).toHaveLength(1);
  expect(said[0]).toContain('it responded 503');
  jaeger.refuse = false;
  await expect.poll(() => jaeger.taken).toEqual(['first', 'second', 'third']);
  expect(said).toHaveLength(2);
});

it('names Jaeger as the reason when it cannot be read', async () => {
  const jaeger = await fakeJaeger();
  const telemetry = await receiver();
  telemetry.relay(relayTo(jaeger));
  jaeger.server.closeAllConnections();
  await new Promise((resolve) => jaeger.server.close(resolve));
  const response = await fetch(`${telemetry.url}/api/v3/traces/${TRACE}`);
  expect(response.status).toBe(502);
  expect(await response.text()).toContain('ECONNREFUSED');
});
