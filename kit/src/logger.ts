import { isSpanContextValid, trace } from '@opentelemetry/api';
import { pino } from 'pino';
import { ownRelease } from './release.ts';
import { type LogSink, logSink } from './telemetry/log-sink.ts';

export type Logger = pino.Logger;

/** Fields of the active span, as OpenTelemetry's log data model names them in JSON. */
function correlation(): Record<string, string> {
  const span = trace.getActiveSpan()?.spanContext();
  if (span === undefined || !isSpanContextValid(span)) return {};
  return { trace_id: span.traceId, span_id: span.spanId };
}

/**
 * JSON lines on standard output, and over OTLP where the telemetry takes them. Records carry the active span's trace id. The customer is never passed to a logger;
 * the redaction below is the second line of defence, not the first.
 */
export function createLogger(options: { service: string; instance: string; level: string }): Logger {
  const settings: pino.LoggerOptions = {
    level: options.level,
    base: { service: options.service, instance: options.instance, ...ownRelease() },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    mixin: correlation,
    redact: { paths: ['customer', '*.customer', 'password', '*.password', 'headers.authorization'], remove: true },
    serializers: { err: describeError },
  };
  const sink = logSink();
  return sink === undefined ? pino(settings) : pino(settings, alsoTo(sink));
}

/** Standard output first: it has also what the process logs right before it ends. */
function alsoTo(sink: LogSink): pino.DestinationStream {
  const output = pino.destination({ dest: 1, sync: true });
  return {
    write(line) {
      output.write(line);
      sink(line);
    },
  };
}

/** Name, message, code and stack; not the error's other fields, which may hold a row or a body. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error ? error.code : undefined;
  const cause: unknown = error.cause === undefined ? undefined : describeError(error.cause);
  return { type: error.name, message: error.message, code, stack: error.stack, cause };
}
