import { type Attributes, ROOT_CONTEXT, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import {
  createConventionProcessor,
  nameConsumerSpan,
  namePublisherSpan,
  nameQuerySpan,
  type SpanProcessor,
} from './conventions.ts';

type Ended = Parameters<SpanProcessor['onEnd']>[0];

const ended: Ended[] = [];
const keep: SpanProcessor = {
  onStart() {},
  onEnd: (span) => void ended.push(span),
  forceFlush: async () => undefined,
  shutdown: async () => undefined,
};
const tracer = new TracerProvider({ spanProcessors: [createConventionProcessor(), keep] }).getTracer('test');

/** A span as an instrumentation makes it, after it has ended. */
function record(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  use?: (span: ReturnType<typeof tracer.startSpan>) => void,
) {
  const span = tracer.startSpan(name, { kind, attributes }, ROOT_CONTEXT);
  use?.(span);
  span.end();
  return ended.at(-1) as Ended;
}

const grpc = {
  'rpc.system': 'grpc',
  'rpc.service': 'stock.Inventory',
  'rpc.method': 'Reserve',
  'rpc.grpc.status_code': 0,
};

describe('gRPC spans', () => {
  it.each([
    [SpanKind.SERVER, 'POST /stock.Inventory/Reserve'],
    [SpanKind.CLIENT, 'POST'],
  ])('of kind %i are named %s', (kind, name) => {
    const span = record('grpc.stock.Inventory/Reserve', kind, grpc);
    expect(span.name).toBe(name);
    expect(span.attributes).toEqual({
      'rpc.system.name': 'grpc',
      'rpc.method': 'stock.Inventory/Reserve',
      'rpc.response.status_code': 'OK',
    });
  });

  it('have the status as error type, and no text of the error', () => {
    const failed = { ...grpc, 'rpc.grpc.status_code': 14, 'grpc.error_message': 'no', 'grpc.error_name': 'Error' };
    const span = record('grpc.stock.Inventory/Reserve', SpanKind.CLIENT, failed);
    expect(span.attributes).toMatchObject({ 'rpc.response.status_code': 'UNAVAILABLE', 'error.type': 'UNAVAILABLE' });
    expect(JSON.stringify(span.attributes)).not.toContain('"no"');
  });
});

describe('SQL spans', () => {
  const sql = { 'db.system.name': 'postgresql', 'db.namespace': 'orders' };

  it.each([
    ['INSERT orders: started', 'WITH x AS (SELECT 1) INSERT INTO orders', 'INSERT orders'],
    ['UPDATE orders, INSERT outbox: confirm', 'UPDATE orders', 'UPDATE orders, INSERT outbox'],
    [undefined, ' begin;', 'BEGIN'],
  ])('of the statement %s are named after what stands before the colon', (name, text, summary) => {
    const span = record('pg.query', SpanKind.CLIENT, sql, (open) => nameQuerySpan(open, { query: { text, name } }));
    expect(span.name).toBe(summary);
    expect(span.attributes).toMatchObject({ 'db.query.summary': summary });
  });

  it('hold the SQLSTATE of a failure and not the server’s message, which may quote values', () => {
    const span = record('pg.query', SpanKind.CLIENT, sql, (open) => {
      open.recordException("PostgreSQL error of type 'error' occurred (code: 22P02)");
      open.setStatus({ code: SpanStatusCode.ERROR, message: 'invalid input syntax: "Oksana"' });
    });
    expect(span.attributes).toMatchObject({ 'db.response.status_code': '22P02', 'error.type': '22P02' });
    expect(span.status).toEqual({ code: SpanStatusCode.ERROR, message: 'PostgreSQL error 22P02' });
    expect(JSON.stringify([span.status, span.attributes, span.events])).not.toContain('Oksana');
  });
});

describe('messaging spans', () => {
  const old = {
    'messaging.system': 'rabbitmq',
    'messaging.destination': 'shop.events',
    'messaging.message_id': 'm1',
    'messaging.rabbitmq.routing_key': 'order.confirmed',
    'messaging.url': 'amqp://orders:***@127.0.0.1',
  };

  it('of a publisher are named after the routing key', () => {
    const span = record('publish shop.events', SpanKind.PRODUCER, old, (open) =>
      namePublisherSpan(open, { exchange: 'shop.events', routingKey: 'order.confirmed' }),
    );
    expect(span.name).toBe('publish order.confirmed');
    expect(span.attributes).toEqual({
      'messaging.system': 'rabbitmq',
      'messaging.destination.name': 'shop.events:order.confirmed',
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'send',
      'messaging.message.id': 'm1',
      'messaging.rabbitmq.destination.routing_key': 'order.confirmed',
    });
  });

  it('of a consumer are named after the routing key and know the queue', () => {
    const fields = { exchange: 'shop.events', routingKey: 'order.confirmed', deliveryTag: 3 };
    const span = record('shipping.order-confirmed process', SpanKind.CONSUMER, old, (open) =>
      nameConsumerSpan(open, { msg: { fields } }),
    );
    expect(span.name).toBe('deliver order.confirmed');
    expect(span.attributes).toMatchObject({
      'messaging.destination.name': 'shop.events:order.confirmed:shipping.order-confirmed',
      'messaging.operation.type': 'process',
      'messaging.rabbitmq.message.delivery_tag': 3,
    });
  });
});
