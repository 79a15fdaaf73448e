/** Oldest traces are dropped beyond this many; an order's trace takes about 60 KB. */
const MAX_TRACES = 5_000;

/** Jaeger 2's configuration (JSON is YAML): OTLP over HTTP in, bounded memory, query API out. */
export function jaegerConfig(at: {
  readonly host: string;
  readonly query: number;
  readonly otlp: number;
  readonly grpc: number;
}): string {
  const endpoint = (port: number) => ({ endpoint: `${at.host}:${port}` });
  return JSON.stringify({
    service: {
      extensions: ['jaeger_storage', 'jaeger_query'],
      pipelines: { traces: { receivers: ['otlp'], exporters: ['jaeger_storage_exporter'] } },
      telemetry: { metrics: { level: 'none' } },
    },
    extensions: {
      jaeger_storage: { backends: { memory: { memory: { max_traces: MAX_TRACES } } } },
      jaeger_query: { storage: { traces: 'memory' }, http: endpoint(at.query), grpc: endpoint(at.grpc) },
    },
    receivers: { otlp: { protocols: { http: endpoint(at.otlp) } } },
    exporters: { jaeger_storage_exporter: { trace_storage: 'memory' } },
  });
}
