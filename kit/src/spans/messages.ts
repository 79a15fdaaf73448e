import { type Attributes, context, propagation, ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import type { ConsumeMessage } from 'amqplib';
import { areLibrariesInstrumented } from '../telemetry/instrumentation.ts';
import { durationOf } from './durations.ts';
import { activeParent, Operation, serverOf } from './operation.ts';

export interface Publication {
  readonly exchange: string;
  readonly routingKey: string;
  readonly messageId: string;
}

export interface PublishSpans {
  /** Adds the trace context to `headers`. Undefined where no request is the cause. */
  start(publication: Publication, headers: Record<string, unknown>): Operation | undefined;
}

/** Spans `publish {routing key}` and durations of what is published to the broker at `url`, up to the confirm. */
export function createPublishSpans(url: string): PublishSpans {
  const server = serverOf(new URL(url), 5672);
  const duration = durationOf('messaging.client.operation.duration');
  return {
    start({ exchange, routingKey, messageId }, headers) {
      const parent = activeParent();
      if (parent === undefined) return undefined;
      const series = seriesOf(`${exchange}:${routingKey}`, 'publish');
      const attributes = {
        ...server,
        ...series,
        'messaging.operation.type': 'send',
        'messaging.message.id': messageId,
        'messaging.rabbitmq.destination.routing_key': routingKey,
      };
      const name = `publish ${routingKey}`;
      const operation = new Operation({ name, kind: SpanKind.PRODUCER, attributes, series, parent }, duration);
      propagation.inject(operation.context, headers);
      return operation;
    },
  };
}

/** The span of one delivery. */
export type DeliverySpan = Pick<Operation, 'context' | 'end' | 'fail'>;

export interface DeliverySpans {
  /** Ends when the delivery is acknowledged; where it is not, it fails with what was done instead. */
  start(message: ConsumeMessage): DeliverySpan;
}

/** Spans `deliver {routing key}` and durations of what comes from `queue` of the broker at `url`, up to the acknowledgement. */
export function createDeliverySpans(url: string, queue: string): DeliverySpans {
  if (areLibrariesInstrumented()) return instrumented;
  const server = serverOf(new URL(url), 5672);
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
      return new Operation({ name, kind: SpanKind.CONSUMER, attributes, series, parent }, duration);
    },
  };
}

/** The library's instrumentation begins the span before the consumer is called, and ends it when the message is settled. */
const instrumented: DeliverySpans = {
  start: () => ({ context: context.active(), end() {}, fail() {} }),
};

function seriesOf(destination: string, operation: string): Attributes {
  return {
    'messaging.system': 'rabbitmq',
    'messaging.destination.name': destination,
    'messaging.operation.name': operation,
  };
}
