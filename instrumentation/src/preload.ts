// The entry of dist/instrumented/telemetry.cjs, loaded with `node --require` so that it runs before the modules that it patches.
import { startTelemetry } from '@shop/kit/telemetry/sdk.ts';
import { startStockTelemetry } from './sdk.ts';

// Disabled, the SDK would still leave every module patched.
if (process.env.OTEL_SDK_DISABLED === 'true') startTelemetry(process.env);
else startStockTelemetry(process.env);
