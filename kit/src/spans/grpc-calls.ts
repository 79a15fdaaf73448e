import type { Metadata, ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { type Context, context, type Histogram, propagation, ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import { grpc } from '../grpc.ts';
import { durationOf } from './durations.ts';
import { causeOf, Operation } from './operation.ts';

/** A failure as grpc-js tells it; null is none. */
type Failure = { readonly code?: number | null } | null;

/** Spans and durations of calls to the methods of one gRPC service, e.g. `stock.Inventory`. */
export interface GrpcClientSpans {
  /** Adds the trace context to `metadata`. Undefined where no request is the cause. */
  start(method: string, metadata: Metadata): GrpcCall | undefined;
}

export function createGrpcClientSpans(service: string): GrpcClientSpans {
  const duration = durationOf('rpc.client.call.duration');
  return {
    start(method, metadata) {
      const parent = causeOf();
      if (parent === undefined) return undefined;
      const call = new GrpcCall('POST', SpanKind.CLIENT, `${service}/${method}`, parent, duration);
      propagation.inject(call.context, metadata, metadataSetter);
      return call;
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
    const traced = new GrpcCall(`POST ${path}`, SpanKind.SERVER, path.slice(1), parent, duration);
    call.once('cancelled', () => traced.answered({ code: grpc.status.CANCELLED }));
    const answer: sendUnaryData<Response> = (error, ...rest) => {
      traced.answered(error);
      callback(error, ...rest);
    };
    return context.with(traced.context, () => handle(call, answer));
  };
}

/** A call's span with its outcome. */
class GrpcCall extends Operation {
  constructor(name: string, kind: SpanKind, method: string, parent: Context, duration: Histogram) {
    const attributes = { 'rpc.system.name': 'grpc', 'rpc.method': method };
    super({ name, kind, attributes, series: attributes, parent }, duration);
  }

  /** Ends it with its status. The failure's details are left out: they may hold values. */
  answered(failure: Failure): void {
    const status = failure === null ? 'OK' : (grpc.status[failure.code ?? grpc.status.UNKNOWN] ?? 'UNKNOWN');
    this.classify({ 'rpc.response.status_code': status });
    if (failure === null) this.end();
    else this.failAs(status);
  }
}

const metadataSetter = { set: (metadata: Metadata, key: string, value: string) => metadata.set(key, value) };

const metadataGetter = {
  keys: (metadata: Metadata) => Object.keys(metadata.getMap()),
  get: (metadata: Metadata, key: string) => metadata.get(key).map(String),
};
