import { setTimeout as delay } from 'node:timers/promises';
import { diag, metrics } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { createSpanAccounting } from './accounting.ts';
import { createConventionProcessor } from './conventions.ts';
import { withoutUpDownCounters } from './database-meters.ts';
import { createDurationProcessor } from './durations.ts';
import { instrumentationsInUse } from './instrumentations.ts';
import { publishTelemetry, TELEMETRY_SHUTDOWN_MS } from './shutdown.ts';

/** Longest time a finished span waits for its batch, in ms: what a killed process loses. */
const BATCH_DELAY_MS = 150;
/** Metric reports per process; span accounting and the live counters depend on it. In ms. */
const METRIC_INTERVAL_MS = 1_000;
/** One export attempt with its retries, in ms. */
const EXPORT_TIMEOUT_MS = 5_000;

/**
 * Starts traces and metrics as the OTEL_* variables say, over OTLP/HTTP JSON. Logs are not exported: they are lines on
 * standard output, which whoever started the process already reads.
 */
export function startTelemetry(): void {
  const accounting = createSpanAccounting({
    exporter: new OTLPTraceExporter({ timeoutMillis: EXPORT_TIMEOUT_MS }),
    scheduledDelayMillis: BATCH_DELAY_MS,
    maxQueueSize: 8_192,
    maxExportBatchSize: 512,
  });
  // Other detectors read files and run commands at start, for attributes nobody asks for here.
  process.env.OTEL_NODE_RESOURCE_DETECTORS ??= 'env';
  const instrumentations = instrumentationsInUse();
  const sdk = new NodeSDK({
    // The process id tells a restarted instance from its predecessor, whose counters ended at their last report.
    resource: resourceFromAttributes({ 'process.pid': process.pid }),
    instrumentations,
    // The order matters: names and attributes are final before a span's duration is recorded or the span is queued.
    spanProcessors: [createConventionProcessor(), createDurationProcessor(), accounting.processor],
    metricReaders: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ timeoutMillis: METRIC_INTERVAL_MS }),
        exportIntervalMillis: METRIC_INTERVAL_MS,
        exportTimeoutMillis: METRIC_INTERVAL_MS,
      }),
    ],
    // An empty list, because the default is an exporter that nothing feeds.
    logRecordProcessors: [],
  });
  sdk.start();
  for (const one of instrumentations) {
    if (one.instrumentationName.endsWith('-pg'))
      one.setMeterProvider(withoutUpDownCounters(metrics.getMeterProvider()));
  }
  accounting.observe(metrics.getMeter('Shop.Telemetry'));
  publishTelemetry({ shutdown: () => shutdown(sdk) });
}

async function shutdown(sdk: NodeSDK): Promise<void> {
  const flushed = sdk.shutdown().catch((error: unknown) => diag.warn('telemetry was lost at shutdown', error));
  await Promise.race([flushed, delay(TELEMETRY_SHUTDOWN_MS)]);
}
