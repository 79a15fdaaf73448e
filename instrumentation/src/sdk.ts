import { DiagConsoleLogger, diag, metrics } from '@opentelemetry/api';
import { diagLogLevelFromString } from '@opentelemetry/core';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { announceInstrumentedLibraries } from '@shop/kit/telemetry/instrumentation.ts';
import { samplerOf } from '@shop/kit/telemetry/sampler.ts';
import {
  ACCOUNTING_METER,
  createMetricReader,
  createSpanExport,
  describeProcess,
  exportedSignals,
  shutdown,
  startLogs,
} from '@shop/kit/telemetry/sdk.ts';
import { publishTelemetry } from '@shop/kit/telemetry/shutdown.ts';
import { createConventionProcessor } from './conventions.ts';
import { createDurationProcessor } from './durations.ts';
import { instrumentationsInUse } from './instrumentations.ts';
import { createPropagator } from './propagator.ts';

/**
 * Starts OpenTelemetry's own SDK and instrumentations, which patch the libraries of a service. What is sent, how often, and
 * what the trace contract calls things is the same as with spans by hand (`startTelemetry` of the kit).
 */
export function startStockTelemetry(env: NodeJS.ProcessEnv): void {
  if (env.OTEL_LOG_LEVEL !== undefined) {
    diag.setLogger(new DiagConsoleLogger(), { logLevel: diagLogLevelFromString(env.OTEL_LOG_LEVEL) });
  }
  const exported = exportedSignals(env);
  const resource = describeProcess(env);
  const accounting = exported.traces ? createSpanExport() : undefined;
  const sdk = new NodeSDK({
    resource,
    autoDetectResources: false,
    sampler: samplerOf(env),
    textMapPropagator: createPropagator(),
    instrumentations: instrumentationsInUse(),
    // The order matters: names and attributes are final before a span's duration is recorded or the span is queued.
    spanProcessors: [
      createConventionProcessor(),
      createDurationProcessor(),
      ...(accounting === undefined ? [] : [accounting.processor]),
    ],
    // Empty lists, because the default are exporters that the environment names.
    metricReaders: exported.metrics ? [createMetricReader()] : [],
    logRecordProcessors: [],
  });
  sdk.start();
  accounting?.observe(metrics.getMeter(ACCOUNTING_METER));
  const recording = [
    ...(accounting === undefined ? [] : [accounting.processor]),
    ...(exported.logs ? [startLogs(resource)] : []),
  ];
  announceInstrumentedLibraries();
  publishTelemetry({ shutdown: () => shutdown(recording, [sdk]) });
}
