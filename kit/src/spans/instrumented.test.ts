// Goal: where libraries are instrumented, our own spans of what they do would be second ones: there are none.
import { context, INVALID_SPAN_CONTEXT, propagation, trace } from '@opentelemetry/api';
import { RPCType, setRPCMetadata } from '@opentelemetry/core';
import type { ConsumeMessage } from 'amqplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grpc } from '../grpc.ts';
import { createHealth } from '../health.ts';
import { createLogger } from '../logger.ts';
import { createServer } from '../server.ts';
import { announceInstrumentedLibraries } from '../telemetry/instrumentation.ts';
import { isDistrusted } from '../telemetry/sampling-decision.ts';
import { uninstrumented } from '../tracing.ts';
import { openTracedPool } from './client-requests.ts';
import { createGrpcClientSpans, traceUnary } from './grpc-calls.ts';
import { createDeliverySpans, createPublishSpans } from './messages.ts';
import { createQuerySpans } from './queries.ts';
import { CALLER, seeTelemetry } from './testing.ts';

const telemetry = seeTelemetry();
beforeAll(() => announceInstrumentedLibraries());
afterAll(() => announceInstrumentedLibraries(false));

const logger = createLogger({ service: 'test', instance: 'test-1', level: 'silent' });
const statement = { name: 'UPDATE outbox: published', text: 'UPDATE outbox' };
const queries = createQuerySpans('postgres://orders@127.0.0.1/orders');

/** Names of the spans that `work` made in a request. */
async function spansOf(work: () => unknown): Promise<readonly string[]> {
  await telemetry.inParent(work);
  return telemetry.spans().map(({ name }) => name);
}

describe('an instrumented library', () => {
  it('makes the span of a statement', async () => {
    expect(await spansOf(() => queries.start(statement)?.end())).toEqual([]);
  });

  it('cannot make those of a statement that serves several requests: they are ours', async () => {
    const causes = [1, 2].map(() => telemetry.inParent(() => context.active()));
    queries.start(statement, causes)?.end();
    expect(telemetry.spans().map(({ name }) => name)).toEqual(['UPDATE outbox', 'UPDATE outbox']);
  });

  it('makes the span of a gRPC call, and adds its trace context', async () => {
    const metadata = new grpc.Metadata();
    const calls = createGrpcClientSpans('stock.Inventory', '127.0.0.1:4003');
    expect(await spansOf(() => calls.start('Reserve', metadata)?.endWithStatus(null))).toEqual([]);
    expect(metadata.getMap()).toEqual({});
    const handle = () => undefined;
    expect(traceUnary(handle)).toBe(handle);
  });

  it('makes the span of a publish, and adds its trace context', async () => {
    const headers = {};
    const publication = { exchange: 'shop.events', routingKey: 'order.confirmed', messageId: 'm1' };
    expect(await spansOf(() => createPublishSpans('amqp://127.0.0.1').start(publication, headers)?.end())).toEqual([]);
    expect(headers).toEqual({});
  });

  it('makes the span of a delivery, in which the work runs', async () => {
    const deliveries = createDeliverySpans('amqp://127.0.0.1', 'queue');
    const message = { fields: {}, properties: {} } as ConsumeMessage;
    const work = () => {
      const delivery = deliveries.start(message);
      expect(delivery.context).toBe(context.active());
      delivery.end();
    };
    expect(await spansOf(work)).toEqual([]);
  });

  it('makes the spans of a request and of its handling, which is named by its route', async () => {
    await using server = createServer({ logger, health: createHealth({}), isPublic: true });
    let distrusted = false;
    server.get('/products/:id', { config: { otelRoute: '/products/{id:int}' } }, async (request) => {
      distrusted = isDistrusted(request.raw.headers);
      return {};
    });
    const rpc = { type: RPCType.HTTP, route: '', span: trace.wrapSpanContext(INVALID_SPAN_CONTEXT) } as const;
    // What the instrumentation of Node's server does before the request is handled.
    server.server.prependListener('request', (request) => expect(isDistrusted(request.headers)).toBe(true));
    const emit = server.server.emit.bind(server.server);
    server.server.emit = (...args: unknown[]) =>
      context.with(setRPCMetadata(context.active(), rpc), () => emit(...(args as [string])));
    const origin = (await server.listen({ host: '127.0.0.1', port: 0 })).replace(/\/$/, '');
    const pool = openTracedPool(origin, {});
    const request = { method: 'GET', path: '/products/7', headers: {} } as const;
    const names = await spansOf(() => pool.send(request, (body) => body.text()));
    await pool.pool.close();
    expect([names, rpc.route, distrusted]).toEqual([[], '/products/{id:int}', true]);
  });

  it('lets the client of the probe decide whether it is traced, and takes nothing else from it', async () => {
    await using server = createServer({ logger, health: createHealth({}), isPublic: true, probePath: '/probe' });
    const seenBy = async (path: string) => {
      const headers = { traceparent: CALLER, tracestate: 'a=b', baggage: 'secret=1' };
      return (await fetch(`${origin}${path}`, { headers })).json();
    };
    for (const path of ['/probe', '/other']) {
      server.get(path, async ({ raw: { headers } }) => {
        const { traceparent, tracestate, baggage } = headers;
        return { distrusted: isDistrusted(headers), traceparent, others: { tracestate, baggage } };
      });
    }
    const origin = (await server.listen({ host: '127.0.0.1', port: 0 })).replace(/\/$/, '');
    expect(await seenBy('/probe')).toEqual({ distrusted: false, traceparent: CALLER, others: {} });
    expect(await seenBy('/other')).toMatchObject({ distrusted: true, others: { baggage: 'secret=1' } });
  });

  it('does nothing in work whose spans are made by hand', () => {
    telemetry.inParent(() => {
      const carrier = {};
      uninstrumented(() => {
        propagation.inject(context.active(), carrier);
        expect(trace.getActiveSpan()).toBeUndefined();
        expect(trace.getTracer('library').startSpan('library').isRecording()).toBe(false);
      });
      expect(carrier).toEqual({});
    });
  });
});
