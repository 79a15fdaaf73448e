import { type Attributes, type Context, context, propagation, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { ConsumeMessage } from 'amqplib';
import { messageOf } from '../failures.ts';
import { durationOf } from './durations.ts';
import { Operation, typeOf } from './operation.ts';

export interface Publication {
  readonly exchange: string;
  readonly routingKey: string;
  readonly messageId: string;
}

export interface RunningPublish {
  end(): void;
  fail(error: unknown): void;
}

export interface PublishSpans {
  /** Adds the trace context to `headers`. Undefined where no request is the cause. */
  start(publication: Publication, headers: Record<string, unknown>): RunningPublish | undefined;
}

/** Spans `publish {routing key}` and durations of what is published to the broker at `url`, up to the confirm. */
export function createPublishSpans(url: string): PublishSpans {
  const server = brokerOf(url);
  const duration = durationOf('messaging.client.operation.duration');
  return {
    start({ exchange, routingKey, messageId }, headers) {
      const parent = context.active();
      if (trace.getSpan(parent) === undefined) return undefined;
      const series = seriesOf(`${exchange}:${routingKey}`, 'publish');
      const attributes = {
        ...server,
        ...series,
        'messaging.operation.type': 'send',
        'messaging.message.id': messageId,
        'messaging.rabbitmq.destination.routing_key': routingKey,
      };
      const name = `publish ${routingKey}`;
      const operation = new Operation({ name, kind: SpanKind.PRODUCER, attributes, parent }, duration);
      propagation.inject(trace.setSpan(parent, operation.span), headers);
      return new TracedPublish(operation, series);
    },
  };
}

class TracedPublish implements RunningPublish {
  private readonly operation: Operation;
  private readonly series: Attributes;

  constructor(operation: Operation, series: Attributes) {
    this.operation = operation;
    this.series = series;
  }

  end(): void {
    this.operation.end(this.series);
  }

  fail(error: unknown): void {
    this.operation.fail(typeOf(error), this.series, messageOf(error));
  }
}

/** A delivery in hand; its work runs in `context`. */
export interface RunningDelivery {
  readonly context: Context;
  /** It was acknowledged. */
  end(): void;
  /** It was not: `reason` says what was done instead. */
  fail(reason: string): void;
}

export interface DeliverySpans {
  start(message: ConsumeMessage): RunningDelivery;
}

/** Spans `deliver {routing key}` and durations of what comes from `queue` of the broker at `url`, up to the acknowledgement. */
export function createDeliverySpans(url: string, queue: string): DeliverySpans {
  const server = brokerOf(url);
  const duration = durationOf('messaging.process.duration');
  return {
    start({ fields, properties }) {
      const parent = propagation.extract(ROOT_CONTEXT, properties.headers ?? {});
      const series = seriesOf(`${fields.exchange}:${fields.routingKey}:${queue}`, 'deliver');
      const attributes = {
        ...server,
        ...series,
        'messaging.operation.type': 'process',
        ...(typeof properties.messageId === 'string' && { 'messaging.message.id': properties.messageId }),
        'messaging.rabbitmq.destination.routing_key': fields.routingKey,
        'messaging.rabbitmq.message.delivery_tag': fields.deliveryTag,
      };
      const name = `deliver ${fields.routingKey}`;
      const operation = new Operation({ name, kind: SpanKind.CONSUMER, attributes, parent }, duration);
      return {
        context: trace.setSpan(parent, operation.span),
        end: () => operation.end(series),
        fail: (reason) => operation.fail('_OTHER', series, reason),
      };
    },
  };
}

function seriesOf(destination: string, operation: string): Attributes {
  return {
    'messaging.system': 'rabbitmq',
    'messaging.destination.name': destination,
    'messaging.operation.name': operation,
  };
}

function brokerOf(url: string): Attributes {
  const { hostname, port } = new URL(url);
  return { 'server.address': hostname, 'server.port': Number(port || 5672) };
}
