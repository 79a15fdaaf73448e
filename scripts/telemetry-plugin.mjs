/** What the preload runs on. Everything else of OpenTelemetry that these import is for features it does not use. */
const KEPT = new Set(
  [
    'api',
    'auto-instrumentations-node',
    'context-async-hooks',
    'core',
    'exporter-metrics-otlp-http',
    'exporter-trace-otlp-http',
    'instrumentation',
    'instrumentation-amqplib',
    'instrumentation-grpc',
    'instrumentation-http',
    'instrumentation-pg',
    'instrumentation-undici',
    'otlp-exporter-base',
    'otlp-transformer',
    'resources',
    'sdk-logs',
    'sdk-metrics',
    'sdk-node',
    'sdk-trace',
    'semantic-conventions',
    'sql-common',
  ].map((name) => `@opentelemetry/${name}`),
);

/** Families whose other members are replaced by nothing; an unknown family stops the build instead. */
const PRUNED =
  /^@opentelemetry\/(instrumentation|exporter|resource-detector|propagator)-|^@opentelemetry\/(configuration|otlp-grpc-exporter-base)$/;

/**
 * esbuild plugin for dist/telemetry.cjs: replaces the instrumentations, exporters, propagators, detectors and
 * configuration readers that sdk-node and auto-instrumentations-node import, and the shop does not use, by an empty
 * module. Throws (fails the build) on an OpenTelemetry package it does not know, so that an upgrade cannot lose one
 * silently. Figures: docs/decisions/0001-telemetry-bundle.md.
 *
 * @returns {import('esbuild').Plugin}
 */
export function telemetryPlugin() {
  return {
    name: 'telemetry',
    setup(build) {
      build.onResolve({ filter: /^@opentelemetry\// }, ({ path }) => {
        const name = path.split('/', 2).join('/');
        if (KEPT.has(name)) return undefined;
        if (PRUNED.test(name)) return { path, namespace: 'pruned', sideEffects: false };
        return { errors: [{ text: `telemetry-plugin: decide whether ${name} is kept or pruned` }] };
      });
      build.onLoad({ filter: /.*/, namespace: 'pruned' }, () => ({ contents: 'module.exports = {};', loader: 'js' }));
    },
  };
}
