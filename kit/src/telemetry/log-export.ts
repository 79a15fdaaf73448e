import {
  type Attributes,
  context,
  type Meter,
  ROOT_CONTEXT,
  SeverityNumber,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import { BatchLogRecordProcessor, LoggerProvider, type LogRecordExporter } from '@opentelemetry/sdk-logs';

/** ExportResultCode.SUCCESS of the exporter interface. */
const SUCCESS = 0;

/** What became of the log lines of this process, counted since its start. */
export interface LogCounts {
  written: number;
  /** Accepted by the receiver. */
  exported: number;
  /** Lost on this way: the queue was full, or the receiver refused or could not be reached. They are on standard output. */
  dropped: number;
}

export interface LogExportOptions {
  readonly exporter: LogRecordExporter;
  readonly resource: Resource;
  /** Longest time that a record waits for its batch, in ms. */
  readonly delayMs: number;
  readonly maxQueueSize: number;
  readonly maxExportBatchSize: number;
}

export interface LogExport {
  /** Takes a line as it is on standard output, redacted. Sends what is a log record. */
  take(line: string): void;
  counts(): Readonly<LogCounts>;
  /** Publishes the counts as `shop.telemetry.logs` with the attribute `state`. */
  observe(meter: Meter): void;
  shutdown(): Promise<void>;
}

/** Severities of pino's levels. Source: OpenTelemetry, "Logs Data Model", field SeverityNumber. */
const SEVERITIES: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
};

/** What each line has, beside its own fields: they have a place in a record, or are the resource's. */
interface Line {
  readonly level?: string;
  readonly time?: string;
  readonly msg?: string;
  /** Of a line that is an event, by OpenTelemetry's semantic conventions. */
  readonly event_name?: string;
  readonly service?: string;
  readonly instance?: string;
  readonly version?: string;
  readonly track?: string;
  readonly trace_id?: string;
  readonly span_id?: string;
}

/** Log records over OTLP, from the lines themselves: what standard output does not have is not sent either. */
export function createLogExport({ exporter, resource, delayMs, ...limits }: LogExportOptions): LogExport {
  const counts: LogCounts = { written: 0, exported: 0, dropped: 0 };
  let queued = 0;
  const counted: LogRecordExporter = {
    export(records, done) {
      queued -= records.length;
      exporter.export(records, (result) => {
        counts[result.code === SUCCESS ? 'exported' : 'dropped'] += records.length;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  };
  const batches = new BatchLogRecordProcessor({ ...limits, scheduledDelayMillis: delayMs, exporter: counted });
  const provider = new LoggerProvider({ resource, processors: [batches] });
  const logger = provider.getLogger('pino');

  return {
    take(line) {
      counts.written++;
      // The batch processor would drop it and count nothing.
      if (queued >= limits.maxQueueSize) {
        counts.dropped++;
        return;
      }
      const {
        level = 'info',
        time,
        msg = '',
        event_name: eventName,
        service: _service,
        instance: _instance,
        version: _version,
        track: _track,
        trace_id: traceId,
        span_id: spanId,
        ...attributes
      } = JSON.parse(line) as Line;
      queued++;
      logger.emit({
        ...(time !== undefined && { timestamp: new Date(time) }),
        severityNumber: SEVERITIES[level] ?? SeverityNumber.UNSPECIFIED,
        severityText: level.toUpperCase(),
        body: msg,
        ...(eventName !== undefined && { eventName }),
        attributes: attributes as Attributes,
        context: contextOf(traceId, spanId),
      });
    },
    counts: () => ({ ...counts }),
    observe(meter) {
      meter
        .createObservableCounter('shop.telemetry.logs', {
          description: 'Log lines of this process by what became of them.',
          unit: '{line}',
        })
        .addCallback((result) => {
          for (const [state, count] of Object.entries(counts)) result.observe(count, { state });
        });
    },
    shutdown: () => provider.shutdown(),
  };
}

/** Of the span that the line names: the same as on standard output. */
function contextOf(traceId: string | undefined, spanId: string | undefined) {
  if (traceId === undefined || spanId === undefined) return ROOT_CONTEXT;
  const traceFlags = trace.getSpanContext(context.active())?.traceFlags ?? TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags });
}
