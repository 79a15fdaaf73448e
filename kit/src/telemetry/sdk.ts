import { setTimeout as delay } from 'node:timers/promises';
import { context, DiagConsoleLogger, diag, metrics, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  CompositePropagator,
  diagLogLevelFromString,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from '@opentelemetry/core';
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { type IMetricReader, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { TracerProvider } from '@opentelemetry/sdk-trace';
import { ownRelease } from '../release.ts';
import { createSpanAccounting, type SpanAccounting } from './accounting.ts';
import { createLogExport, type LogExport } from './log-export.ts';
import { publishLogSink } from './log-sink.ts';
import { samplerOf } from './sampler.ts';
import { announceVersion, serviceVersion } from './service-version.ts';
import { publishTelemetry, TELEMETRY_SHUTDOWN_MS } from './shutdown.ts';

/** Each batch costs about 2 ms in its service and the receiver, whatever is in it (decision 0021). */
const BATCH_DELAY_MS = { quiet: 150, busy: 500 };
/** Nothing waits for a log record. In ms. */
const LOG_DELAY_MS = 1_000;
/** Metric reports per process; span accounting and the live counters depend on it. In ms. */
const METRIC_INTERVAL_MS = 1_000;
/** One export attempt with its retries, in ms. */
const EXPORT_TIMEOUT_MS = 5_000;

/**
 * Starts traces and metrics as the OTEL_* variables say (an exporter `none` leaves either out), over OTLP/HTTP JSON. Trace
 * ids are made whether or not spans are sent: log records and error responses carry them. Only OTEL_SDK_DISABLED leaves a
 * caller's ids as they are and makes none. Spans
 * are made by the kit itself, at each server and client; nothing is patched. Logs are lines on standard output; with
 * OTEL_LOGS_EXPORTER=otlp they are sent as well.
 */
export function startTelemetry(env: NodeJS.ProcessEnv): void {
  if (env.OTEL_LOG_LEVEL !== undefined) {
    diag.setLogger(new DiagConsoleLogger(), { logLevel: diagLogLevelFromString(env.OTEL_LOG_LEVEL) });
  }
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(
    new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
  );

  if (env.OTEL_SDK_DISABLED === 'true') return;

  const resource = describeProcess(env);
  const exported = exportedSignals(env);
  const reporting: Ending[] = exported.metrics ? [startMetrics(resource)] : [];
  // After the metrics, in which it counts what became of its spans.
  const accounting = exported.traces ? startExport() : undefined;
  const recording: Ending[] = exported.logs ? [startLogs(resource)] : [];
  const sampler = samplerOf(env);
  const tracers = new TracerProvider({
    resource,
    spanProcessors: accounting === undefined ? [] : [accounting.processor],
    ...(sampler !== undefined && { sampler }),
  });
  trace.setGlobalTracerProvider(tracers);
  recording.push(tracers);
  publishTelemetry({ shutdown: () => shutdown(recording, reporting) });
}

/** What is sent: nothing without a receiver. */
export function exportedSignals(env: NodeJS.ProcessEnv): Readonly<Record<'traces' | 'metrics' | 'logs', boolean>> {
  const hasReceiver = Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT);
  return {
    traces: hasReceiver && env.OTEL_TRACES_EXPORTER !== 'none',
    metrics: hasReceiver && env.OTEL_METRICS_EXPORTER !== 'none',
    // The supervisor, which reads standard output, has them already.
    logs: hasReceiver && env.OTEL_LOGS_EXPORTER === 'otlp',
  };
}

/** The resource of this process: what its environment says, which process it is, and what it runs. */
export function describeProcess(env: NodeJS.ProcessEnv): Resource {
  return (
    defaultResource()
      // They distinguish a restarted instance from its predecessor, whose counters ended at their last report. They also
      // say since when it can have had spans: a counter says when it was read first.
      .merge(
        resourceFromAttributes({
          'process.pid': process.pid,
          'process.creation.time': new Date(performance.timeOrigin).toISOString(),
          'service.version': serviceVersion(),
          'shop.track': ownRelease(env).track,
        }),
      )
      // Other detectors read files and run commands at start, for attributes that are not used here.
      .merge(detectResources({ detectors: [envDetector] }))
  );
}

function startMetrics(resource: Resource): MeterProvider {
  const provider = new MeterProvider({ resource, readers: [createMetricReader()] });
  metrics.setGlobalMeterProvider(provider);
  return provider;
}

export function createMetricReader(): IMetricReader {
  return new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ timeoutMillis: METRIC_INTERVAL_MS }),
    exportIntervalMillis: METRIC_INTERVAL_MS,
    exportTimeoutMillis: METRIC_INTERVAL_MS,
  });
}

function startExport(): SpanAccounting {
  const accounting = createSpanExport();
  accounting.observe(metrics.getMeter(ACCOUNTING_METER));
  return accounting;
}

/** Sends the lines of each logger that is made from now on. */
export function startLogs(resource: Resource): LogExport {
  const logs = createLogExport({
    exporter: new OTLPLogExporter({ timeoutMillis: EXPORT_TIMEOUT_MS }),
    resource,
    delayMs: LOG_DELAY_MS,
    maxQueueSize: 4_096,
    maxExportBatchSize: 1_024,
  });
  logs.observe(metrics.getMeter(ACCOUNTING_METER));
  publishLogSink((line) => logs.take(line));
  return logs;
}

/** Meter of the counts of spans and log lines. */
export const ACCOUNTING_METER = 'Shop.Telemetry';

export function createSpanExport(): SpanAccounting {
  return createSpanAccounting({
    exporter: new OTLPTraceExporter({ timeoutMillis: EXPORT_TIMEOUT_MS }),
    delayMs: BATCH_DELAY_MS,
    maxQueueSize: 8_192,
    maxExportBatchSize: 2_048,
  });
}

/** What has an end that sends the rest. */
interface Ending {
  shutdown(): Promise<void>;
}

/** Ends what records before what reports: the last report has what became of every span and log line. */
export async function shutdown(recording: readonly Ending[], reporting: readonly Ending[]): Promise<void> {
  // What a program sends that never was a service.
  announceVersion(undefined);
  const end = async (providers: readonly Ending[]) => {
    const results = await Promise.allSettled(providers.map((provider) => provider.shutdown()));
    for (const result of results) {
      if (result.status === 'rejected') diag.warn('telemetry was lost at shutdown', result.reason);
    }
  };
  const flushed = end(recording).then(() => end(reporting));
  await Promise.race([flushed, delay(TELEMETRY_SHUTDOWN_MS)]);
}
