import { type Attributes, context, propagation, SpanKind, trace } from '@opentelemetry/api';
import { messageOf } from '../failures.ts';
import { durationOf } from './durations.ts';
import { Operation, typeOf } from './operation.ts';

export interface OutgoingRequest {
  /** The whole answer has been read. From 400 on it is an error, as the conventions have it for clients. */
  end(status: number): void;
  fail(error: unknown): void;
}

/** Spans and durations of HTTP requests to one server. */
export interface ClientRequestSpans {
  /** Adds the trace context to `headers`. Undefined where no request is the cause. */
  start(method: string, path: string, headers: Record<string, unknown>): OutgoingRequest | undefined;
}

/** `origin` is the server's, e.g. `http://127.0.0.1:4001`. */
export function createClientRequestSpans(origin: string): ClientRequestSpans {
  const { protocol, hostname, port } = new URL(origin);
  const scheme = protocol.slice(0, -1);
  const server = {
    'url.scheme': scheme,
    'server.address': hostname,
    'server.port': Number(port || (scheme === 'https' ? 443 : 80)),
  };
  const duration = durationOf('http.client.request.duration');

  return {
    start(method, path, headers) {
      const parent = context.active();
      if (trace.getSpan(parent) === undefined) return undefined;
      const urlPath = pathOf(path);
      const attributes = {
        'http.request.method': method,
        ...server,
        'url.full': `${origin}${urlPath}`,
        'url.path': urlPath,
      };
      const operation = new Operation({ name: method, kind: SpanKind.CLIENT, attributes, parent }, duration);
      propagation.inject(trace.setSpan(parent, operation.span), headers);
      return new TracedRequest(operation, { 'http.request.method': method, ...server });
    },
  };
}

/** Without the query, which may hold anything. */
export function pathOf(target: string): string {
  const end = target.indexOf('?');
  return end === -1 ? target : target.slice(0, end);
}

class TracedRequest implements OutgoingRequest {
  private readonly operation: Operation;
  private readonly series: Attributes;

  constructor(operation: Operation, series: Attributes) {
    this.operation = operation;
    this.series = series;
  }

  end(status: number): void {
    const { operation, series } = this;
    series['http.response.status_code'] = status;
    operation.describe({ 'http.response.status_code': status });
    if (status < 400) operation.end(series);
    else operation.fail(String(status), series);
  }

  fail(error: unknown): void {
    this.operation.fail(typeOf(error), this.series, messageOf(error));
  }
}
