import type { Client, Metadata, Server, ServiceDefinition, ServiceError } from '@grpc/grpc-js';
import { SpanKind } from '@opentelemetry/api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grpc, loadProto } from '../grpc.ts';
import { currentTraceId } from '../tracing.ts';
import { createGrpcClientSpans, traceUnary } from './grpc-calls.ts';
import { seen, seeTelemetry } from './testing.ts';

const telemetry = seeTelemetry();
const spans = createGrpcClientSpans('stock.Inventory', 'stock.shop:5001');
/** Address of the server as the client was given it. */
const calledServer = { 'server.address': 'stock.shop', 'server.port': 5001 };
const traceIds: (string | undefined)[] = [];
let server: Server;
let client: Client & Record<string, Unary>;

type Unary = (
  request: object,
  metadata: Metadata,
  options: { deadline: number },
  callback: (error: ServiceError | null) => void,
) => { cancel(): void };

beforeAll(async () => {
  server = new grpc.Server();
  const definition = loadProto('stock.proto')['stock.Inventory'] as ServiceDefinition;
  server.addService(definition, {
    Reserve: traceUnary((_call, callback) => {
      traceIds.push(currentTraceId());
      callback(null, {});
    }),
    Release: traceUnary<{ orderId: string }, object>((call, callback) => {
      if (call.request.orderId !== 'silent') callback({ code: grpc.status.ALREADY_EXISTS, details: 'Oksana' });
    }),
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  const { stock } = grpc.loadPackageDefinition(loadProto('stock.proto')) as unknown as {
    stock: { Inventory: new (...args: ConstructorParameters<typeof grpc.Client>) => typeof client };
  };
  client = new stock.Inventory(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
});

afterAll(() => {
  client.close();
  server.forceShutdown();
});

/** Calls as orders does; resolves when it is over. */
function call(method: 'Reserve' | 'Release', orderId = 'one', timeoutMs = 5_000): Promise<void> {
  const metadata = new grpc.Metadata();
  const traced = spans.start(method, metadata);
  return new Promise((resolve) => {
    (client[method] as Unary)({ orderId }, metadata, { deadline: Date.now() + timeoutMs }, (error) => {
      traced?.endWithStatus(error);
      resolve();
    });
  });
}

const ended = (count: number) => expect.poll(() => telemetry.spans().length).toBe(count);
const ofKind = (kind: SpanKind) => telemetry.spans().find((span) => span.kind === kind);

describe('a gRPC call', () => {
  it('has a client span and, below it, a server span named after the method, in which the work runs', async () => {
    await telemetry.inParent(() => call('Reserve'));
    await ended(2);
    const attributes = {
      'rpc.system.name': 'grpc',
      'rpc.method': 'stock.Inventory/Reserve',
      'rpc.response.status_code': 'OK',
    };
    const [sent, served] = [ofKind(SpanKind.CLIENT), ofKind(SpanKind.SERVER)];
    expect(sent && seen(sent)).toEqual({
      name: 'POST',
      kind: SpanKind.CLIENT,
      error: false,
      attributes: { ...attributes, ...calledServer },
    });
    expect(served && seen(served)).toEqual({
      name: 'POST /stock.Inventory/Reserve',
      kind: SpanKind.SERVER,
      error: false,
      attributes: {
        ...attributes,
        'network.peer.address': '127.0.0.1',
        'network.peer.port': expect.any(Number),
      },
    });
    expect(served?.parentSpanContext?.spanId).toBe(sent?.spanContext().spanId);
    expect(traceIds.at(-1)).toBe(sent?.spanContext().traceId);
  });

  it('that is refused is an error on both sides, without the details, which may hold values', async () => {
    await telemetry.inParent(() => call('Release'));
    await ended(2);
    const failed = { 'rpc.response.status_code': 'ALREADY_EXISTS', 'error.type': 'ALREADY_EXISTS' };
    expect(telemetry.spans().map(seen)).toMatchObject([
      { error: true, attributes: failed },
      { error: true, attributes: failed },
    ]);
    expect(JSON.stringify(telemetry.spans().map(({ status, attributes }) => [status, attributes]))).not.toContain(
      'Oksana',
    );
    const series = await telemetry.durations('rpc.server.call.duration');
    expect(series.map(({ attributes }) => attributes['error.type'])).toContain('ALREADY_EXISTS');
  });

  it('without a response in time ends on both sides', async () => {
    await telemetry.inParent(() => call('Release', 'silent', 100));
    await ended(2);
    expect(ofKind(SpanKind.CLIENT)?.attributes).toMatchObject({ 'rpc.response.status_code': 'DEADLINE_EXCEEDED' });
    expect(ofKind(SpanKind.SERVER)?.attributes).toMatchObject({ 'rpc.response.status_code': 'CANCELLED' });
  });

  it('that no request caused has a server span only, which begins a trace', async () => {
    await call('Reserve');
    await ended(1);
    expect(ofKind(SpanKind.SERVER)?.parentSpanContext).toBeUndefined();
  });
});
