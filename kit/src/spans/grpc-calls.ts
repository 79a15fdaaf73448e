import type { Metadata, ServerUnaryCall, ServiceError, sendUnaryData } from '@grpc/grpc-js';
import { type Attributes, context, propagation, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { durationOf } from './durations.ts';
import { Operation } from './operation.ts';

/** gRPC status names by number, as `rpc.response.status_code` wants them. */
const STATUS_NAMES = [
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

const CANCELLED = 1;
const UNKNOWN = 2;

/** A call's span with its outcome. */
export interface GrpcCall {
  /** `status` is a number of grpc-js; anything but 0 is an error. The details are left out: they may hold values. */
  end(status: number): void;
}

/** Spans and durations of calls to the methods of one gRPC service, e.g. `stock.Inventory`. */
export interface GrpcClientSpans {
  /** Adds the trace context to `metadata`. Undefined where no request is the cause. */
  start(method: string, metadata: Metadata): GrpcCall | undefined;
}

export function createGrpcClientSpans(service: string): GrpcClientSpans {
  const duration = durationOf('rpc.client.call.duration');
  return {
    start(method, metadata) {
      const parent = context.active();
      if (trace.getSpan(parent) === undefined) return undefined;
      const attributes = describe(`${service}/${method}`);
      const operation = new Operation({ name: 'POST', kind: SpanKind.CLIENT, attributes, parent }, duration);
      propagation.inject(trace.setSpan(parent, operation.span), metadata, metadataSetter);
      return new TracedCall(operation, attributes);
    },
  };
}

type Handler<Request, Response> = (
  call: ServerUnaryCall<Request, Response>,
  callback: sendUnaryData<Response>,
) => unknown;

/**
 * Runs `handle` in a server span `POST /{service}/{method}`. It ends with the answer, or when the caller leaves or its
 * deadline passes before there is one.
 */
export function traceUnary<Request, Response>(handle: Handler<Request, Response>): Handler<Request, Response> {
  const duration = durationOf('rpc.server.call.duration');
  return (call, callback) => {
    const parent = propagation.extract(ROOT_CONTEXT, call.metadata, metadataGetter);
    const path = call.getPath();
    const attributes = describe(path.slice(1));
    const operation = new Operation({ name: `POST ${path}`, kind: SpanKind.SERVER, attributes, parent }, duration);
    const traced = new TracedCall(operation, attributes);
    call.once('cancelled', () => traced.end(CANCELLED));
    const answer: sendUnaryData<Response> = (error, ...rest) => {
      traced.end(error === null ? 0 : (error.code ?? UNKNOWN));
      callback(error, ...rest);
    };
    return context.with(trace.setSpan(parent, operation.span), () => handle(call, answer));
  };
}

function describe(method: string): Attributes {
  return { 'rpc.system.name': 'grpc', 'rpc.method': method };
}

class TracedCall implements GrpcCall {
  private readonly operation: Operation;
  private readonly series: Attributes;

  constructor(operation: Operation, series: Attributes) {
    this.operation = operation;
    this.series = series;
  }

  end(status: number): void {
    const name = STATUS_NAMES[status] ?? 'UNKNOWN';
    this.operation.describe({ 'rpc.response.status_code': name });
    const series = { ...this.series, 'rpc.response.status_code': name };
    if (status === 0) this.operation.end(series);
    else this.operation.fail(name, series);
  }
}

/** Status of a failed call. */
export function statusOf(error: Pick<ServiceError, 'code'> | null): number {
  return error === null ? 0 : error.code;
}

const metadataSetter = { set: (metadata: Metadata, key: string, value: string) => metadata.set(key, value) };

const metadataGetter = {
  keys: (metadata: Metadata) => Object.keys(metadata.getMap()),
  get: (metadata: Metadata, key: string) => metadata.get(key).map(String),
};
