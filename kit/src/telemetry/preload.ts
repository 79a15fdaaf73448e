// The entry of dist/telemetry.cjs, loaded with `node --require` so that it runs before the modules it patches.
// Without a receiver nothing is constructed: OTEL_SDK_DISABLED alone would still leave every module patched.
import { startTelemetry } from './sdk.ts';

if (process.env.OTEL_EXPORTER_OTLP_ENDPOINT && process.env.OTEL_SDK_DISABLED !== 'true') startTelemetry();
