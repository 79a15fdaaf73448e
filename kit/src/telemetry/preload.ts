// The entry of dist/telemetry.cjs, loaded with `node --require` so that it runs before the service makes its meters.
// Without a receiver nothing is constructed.
import { startTelemetry } from './sdk.ts';

if (process.env.OTEL_EXPORTER_OTLP_ENDPOINT && process.env.OTEL_SDK_DISABLED !== 'true') startTelemetry(process.env);
