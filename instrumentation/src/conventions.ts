import { type Attributes, type Span, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { NodeSDK } from '@opentelemetry/sdk-node';

/** A processor as NodeSDK takes it. */
export type SpanProcessor = NonNullable<
  NonNullable<ConstructorParameters<typeof NodeSDK>[0]>['spanProcessors']
>[number];
type EndingSpan = Parameters<NonNullable<SpanProcessor['onEnding']>>[0];

/** gRPC status names by number, as `rpc.response.status_code` wants them. */
const GRPC_STATUS_NAMES = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
];

/** What becomes of the attributes of one kind of span. */
interface Modernisation {
  /** Present on every span of the kind. */
  readonly mark: string;
  /** Names that the conventions have since replaced, and their successors. */
  readonly renamed: readonly (readonly [string, string])[];
  /** Names that the conventions have removed, and texts of errors, which may hold values. */
  readonly removed: readonly string[];
}

const MODERNISATIONS: readonly Modernisation[] = [
  {
    mark: 'rpc.system',
    renamed: [],
    removed: ['rpc.system', 'rpc.service', 'rpc.grpc.status_code', 'grpc.error_name', 'grpc.error_message'],
  },
  {
    mark: 'messaging.system',
    renamed: [
      ['messaging.message_id', 'messaging.message.id'],
      ['messaging.rabbitmq.routing_key', 'messaging.rabbitmq.destination.routing_key'],
    ],
    removed: [
      'messaging.conversation_id',
      'messaging.destination',
      'messaging.destination_kind',
      'messaging.message_id',
      'messaging.operation',
      'messaging.protocol',
      'messaging.protocol_version',
      'messaging.rabbitmq.routing_key',
      'messaging.url',
    ],
  },
];

/** Span name and summary of a prepared statement: what its name `"<summary>: <purpose>"` has before the colon. */
export function nameQuerySpan(span: Span, info: { query: { text: string; name?: string | undefined } }): void {
  const { name, text } = info.query;
  const summary = name === undefined ? verbOf(text) : (name.split(':', 1)[0] as string);
  span.updateName(summary).setAttributes({ 'db.query.summary': summary, 'db.operation.name': verbOf(text) });
}

function verbOf(text: string): string {
  return (/\w+/.exec(text)?.[0] ?? 'SQL').toUpperCase();
}

/** `publish <routing key>`: the exchange is the same for all events. */
export function namePublisherSpan(span: Span, publish: { exchange: string; routingKey: string }): void {
  span.updateName(`publish ${publish.routingKey}`).setAttributes({
    'messaging.destination.name': `${publish.exchange}:${publish.routingKey}`,
    'messaging.operation.name': 'publish',
    'messaging.operation.type': 'send',
  });
}

interface Delivery {
  readonly msg: { readonly fields: { exchange: string; routingKey: string; deliveryTag?: number } };
}

/** `deliver <routing key>`; the instrumentation names the span `<queue> process`, from which the queue is taken. */
export function nameConsumerSpan(span: Span, { msg: { fields } }: Delivery): void {
  const queue = (span as Partial<EndingSpan>).name?.replace(/ process$/, '');
  span.updateName(`deliver ${fields.routingKey}`).setAttributes({
    'messaging.destination.name': `${fields.exchange}:${fields.routingKey}:${queue}`,
    'messaging.operation.name': 'deliver',
    'messaging.operation.type': 'process',
    'messaging.rabbitmq.message.delivery_tag': fields.deliveryTag,
  });
}

/**
 * Brings span names and attributes to the stable conventions (semantic conventions 1.44) where the instrumentations
 * still write older ones, and keeps PostgreSQL's error texts, which may quote values, out of spans.
 */
export function createConventionProcessor(): SpanProcessor {
  return {
    onStart: nameGrpcSpan,
    onEnding(span) {
      const { attributes } = span;
      if (attributes['rpc.system'] !== undefined) describeGrpcOutcome(span);
      if (attributes['db.system.name'] !== undefined) describeQueryOutcome(span);
      modernise(attributes);
    },
    onEnd() {},
    async forceFlush() {},
    async shutdown() {},
  };
}

/** grpc-js spans have no hook; they begin as `grpc.<package>.<Service>/<Method>` on both sides. */
function nameGrpcSpan(span: EndingSpan): void {
  if (!span.name.startsWith('grpc.')) return;
  const method = span.name.slice('grpc.'.length);
  span.updateName(span.kind === SpanKind.SERVER ? `POST /${method}` : 'POST');
  span.setAttribute('rpc.system.name', 'grpc');
}

function describeGrpcOutcome(span: EndingSpan): void {
  const { attributes } = span;
  const status = GRPC_STATUS_NAMES[Number(attributes['rpc.grpc.status_code'] ?? 2)] ?? 'UNKNOWN';
  attributes['rpc.response.status_code'] = status;
  // The instrumentation writes the bare method; the convention is the fully qualified one.
  attributes['rpc.method'] = `${attributes['rpc.service']}/${attributes['rpc.method']}`;
  if (status !== 'OK') attributes['error.type'] = status;
}

/** The instrumentation's exception event ends in "(code: <SQLSTATE>)"; the status message quotes the server instead. */
function describeQueryOutcome(span: EndingSpan): void {
  if (span.status.code !== SpanStatusCode.ERROR) return;
  const text = String(span.events[0]?.attributes?.['exception.message'] ?? '');
  const code = /\(code: (\w+)\)$/.exec(text)?.[1] ?? 'UNKNOWN';
  if (/^[0-9A-Z]{5}$/.test(code)) span.attributes['db.response.status_code'] = code;
  span.attributes['error.type'] = code;
  span.setStatus({ code: SpanStatusCode.ERROR, message: `PostgreSQL error ${code}` });
}

/** Only where there is something to change: `delete` turns an object into a slow one, for everything that reads it later. */
function modernise(attributes: Attributes): void {
  const kind = MODERNISATIONS.find(({ mark }) => attributes[mark] !== undefined);
  if (kind === undefined) return;
  for (const [old, current] of kind.renamed) {
    if (attributes[old] !== undefined) attributes[current] = attributes[old];
  }
  for (const name of kind.removed) {
    if (attributes[name] !== undefined) delete attributes[name];
  }
}
