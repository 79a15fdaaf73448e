import type { Metadata, ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js';
import { type Attributes, context, type Histogram, propagation, ROOT_CONTEXT, SpanKind } from '@opentelemetry/api';
import { grpc } from '../grpc.ts';
import { areLibrariesInstrumented } from '../telemetry/instrumentation.ts';
import { durationOf } from './durations.ts';
import { activeParent, Operation, type OperationOptions, serverOf } from './operation.ts';

/** A failure as grpc-js reports it; null for success. */
type Failure = { readonly code?: number | null } | null;

/** Spans and durations of calls to the methods of one gRPC service, e.g. `stock.Inventory`. */
export interface GrpcClientSpans {
  /** Adds the trace context to `metadata`. Undefined where no request is the cause. */
  start(method: string, metadata: Metadata): GrpcCall | undefined;
}

/** `address` is the server's, `host:port`. */
export function createGrpcClientSpans(service: string, address: string): GrpcClientSpans {
  const duration = durationOf('rpc.client.call.duration');
  const server = serverOf(new URL(`grpc://${address}`), 443);
  return {
    start(method, metadata) {
      const parent = activeParent();
      if (parent === undefined) return undefined;
      const call = new GrpcCall(
        { name: 'POST', kind: SpanKind.CLIENT, method: `${service}/${method}`, server, parent },
        duration,
      );
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
 * Runs `handle` in a server span `POST /{service}/{method}`. It ends with the response, or when the caller leaves or its
 * deadline passes before. Where the library is instrumented, `handle` as it is.
 */
export function traceUnary<Request, Response>(handle: Handler<Request, Response>): Handler<Request, Response> {
  if (areLibrariesInstrumented()) return handle;
  const duration = durationOf('rpc.server.call.duration');
  return (call, callback) => {
    const parent = propagation.extract(ROOT_CONTEXT, call.metadata, metadataGetter);
    const path = call.getPath();
    const traced = new GrpcCall(
      { name: `POST ${path}`, kind: SpanKind.SERVER, method: path.slice(1), peer: peerOf(call.getPeer()), parent },
      duration,
    );
    call.once('cancelled', () => traced.endWithStatus({ code: grpc.status.CANCELLED }));
    const respond: sendUnaryData<Response> = (error, ...rest) => {
      traced.endWithStatus(error);
      callback(error, ...rest);
    };
    return context.with(traced.context, () => handle(call, respond));
  };
}

interface CallOptions extends Omit<OperationOptions, 'attributes' | 'series'> {
  /** `package.Service/Method`. */
  readonly method: string;
  /** Of a client: the server's address. */
  readonly server?: Attributes;
  /** Of a server: the caller's connection. */
  readonly peer?: Attributes;
}

/** A call's span with its outcome. */
class GrpcCall extends Operation {
  constructor({ method, server, peer, ...options }: CallOptions, duration: Histogram) {
    const series = { 'rpc.system.name': 'grpc', 'rpc.method': method, ...server };
    super({ ...options, attributes: { ...series, ...peer }, series }, duration);
  }

  /** Ends it with its status. The failure's details are left out: they may hold values. */
  endWithStatus(failure: Failure): void {
    const status = failure === null ? 'OK' : (grpc.status[failure.code ?? grpc.status.UNKNOWN] ?? 'UNKNOWN');
    this.classify({ 'rpc.response.status_code': status });
    if (failure === null) this.end();
    else this.endWithError(status);
  }
}

/** `127.0.0.1:4001`, or `unknown` of a connection that is gone. */
function peerOf(peer: string): Attributes {
  const colon = peer.lastIndexOf(':');
  if (colon === -1) return {};
  return { 'network.peer.address': peer.slice(0, colon), 'network.peer.port': Number(peer.slice(colon + 1)) };
}

const metadataSetter = { set: (metadata: Metadata, key: string, value: string) => metadata.set(key, value) };

const metadataGetter = {
  keys: (metadata: Metadata) => Object.keys(metadata.getMap()),
  get: (metadata: Metadata, key: string) => metadata.get(key).map(String),
};
