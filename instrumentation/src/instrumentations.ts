import type { IncomingMessage } from 'node:http';
import { getNodeAutoInstrumentations } from '@opentelemetry/auto-instrumentations-node';
import { nameConsumerSpan, namePublisherSpan, nameQuerySpan } from './conventions.ts';

/** Of what the services use. Logs are lines on standard output, which carry their trace id anyway. */
const IN_USE = ['http', 'undici', 'grpc', 'pg', 'amqplib'];

/** gRPC methods of health checks and reflection, which are no part of an order. */
const UNTRACED_GRPC_METHODS = ['Check', 'Watch', 'List', 'ServerReflectionInfo'];

/**
 * OpenTelemetry's own instrumentations, set so that an order has the spans of its trace contract: no spans for
 * connections, pools, health checks, or anything that no request caused.
 */
export function instrumentationsInUse(): ReturnType<typeof getNodeAutoInstrumentations> {
  process.env.OTEL_NODE_ENABLED_INSTRUMENTATIONS ??= IN_USE.join(',');
  return getNodeAutoInstrumentations({
    '@opentelemetry/instrumentation-http': {
      ignoreIncomingRequestHook: isHealthCheck,
      // undici makes all outgoing requests; node:http would add a second span to them.
      disableOutgoingRequestInstrumentation: true,
    },
    '@opentelemetry/instrumentation-undici': { requireParentforSpans: true },
    '@opentelemetry/instrumentation-grpc': { ignoreGrpcMethods: UNTRACED_GRPC_METHODS },
    '@opentelemetry/instrumentation-pg': {
      requireParentSpan: true,
      ignoreConnectSpans: true,
      requestHook: nameQuerySpan,
    },
    '@opentelemetry/instrumentation-amqplib': { publishHook: namePublisherSpan, consumeHook: nameConsumerSpan },
  });
}

function isHealthCheck(request: IncomingMessage): boolean {
  return request.url?.startsWith('/health') === true;
}
