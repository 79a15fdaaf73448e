import { SpanKind, trace } from '@opentelemetry/api';
import type { ConsumeMessage } from 'amqplib';
import { describe, expect, it } from 'vitest';
import { createDeliverySpans, createPublishSpans } from './messages.ts';
import { CALLER, seen, seeTelemetry, TRACE_ID } from './testing.ts';

const telemetry = seeTelemetry();
const url = 'amqp://orders:secret@127.0.0.1:5673/shop';
const publishes = createPublishSpans(url);
const deliveries = createDeliverySpans(url, 'shipping.order-confirmed');
const common = {
  'server.address': '127.0.0.1',
  'server.port': 5673,
  'messaging.system': 'rabbitmq',
  'messaging.message.id': 'm1',
  'messaging.rabbitmq.destination.routing_key': 'order.confirmed',
};

function publish(headers: Record<string, unknown> = {}) {
  return publishes.start({ exchange: 'shop.events', routingKey: 'order.confirmed', messageId: 'm1' }, headers);
}

function aDelivery(headers: Record<string, unknown>) {
  return {
    fields: { exchange: 'shop.events', routingKey: 'order.confirmed', deliveryTag: 3 },
    properties: { messageId: 'm1', headers },
  } as unknown as ConsumeMessage;
}

describe('a publish', () => {
  it('is named after the routing key, and hands its trace context to the message', () => {
    const headers: Record<string, unknown> = {};
    telemetry.inParent(() => publish(headers)?.end());
    const [span] = telemetry.spans();
    expect(span && seen(span)).toEqual({
      name: 'publish order.confirmed',
      kind: SpanKind.PRODUCER,
      error: false,
      attributes: {
        ...common,
        'messaging.destination.name': 'shop.events:order.confirmed',
        'messaging.operation.name': 'publish',
        'messaging.operation.type': 'send',
      },
    });
    expect(headers.traceparent).toContain(span?.spanContext().spanId);
  });

  it('that is not confirmed is an error, and a confirm that comes late changes nothing', async () => {
    telemetry.inParent(() => {
      const running = publish();
      running?.fail(new TypeError('no confirm'));
      running?.end();
    });
    expect(telemetry.spans().map(seen)).toMatchObject([{ error: true, attributes: { 'error.type': 'TypeError' } }]);
    const series = await telemetry.durations('messaging.client.operation.duration');
    expect(series.filter(({ attributes }) => attributes['error.type'] === 'TypeError')).toMatchObject([{ count: 1 }]);
  });

  it('that no request caused is not traced', () => {
    const headers = {};
    expect(publish(headers)).toBeUndefined();
    expect(headers).toEqual({});
  });
});

describe('a delivery', () => {
  it('is a child of the publish, knows its queue, and is the parent of its work', () => {
    const running = deliveries.start(aDelivery({ traceparent: CALLER }));
    expect(trace.getSpanContext(running.context)?.traceId).toBe(TRACE_ID);
    running.end();
    expect(telemetry.spans().map(seen)).toEqual([
      {
        name: 'deliver order.confirmed',
        kind: SpanKind.CONSUMER,
        error: false,
        attributes: {
          ...common,
          'messaging.destination.name': 'shop.events:order.confirmed:shipping.order-confirmed',
          'messaging.operation.name': 'deliver',
          'messaging.operation.type': 'process',
          'messaging.rabbitmq.message.delivery_tag': 3,
        },
      },
    ]);
    expect(telemetry.spans()[0]?.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
  });

  it('without a trace context begins a trace', () => {
    deliveries.start(aDelivery({})).end();
    expect(telemetry.spans()[0]?.parentSpanContext).toBeUndefined();
  });

  it('that is not acknowledged is an error', async () => {
    deliveries.start(aDelivery({})).fail('requeue');
    expect(telemetry.spans()[0]?.status).toMatchObject({ code: 2, message: 'requeue' });
    const series = await telemetry.durations('messaging.process.duration');
    expect(series.map(({ attributes }) => attributes['error.type'])).toContain('_OTHER');
  });
});
