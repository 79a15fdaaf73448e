// The entry of dist/telemetry.cjs, loaded with `node --require` so that it runs before the service makes its meters.
import { startTelemetry } from './sdk.ts';

startTelemetry(process.env);
