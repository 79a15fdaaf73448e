/** Where the preload, which is a separate bundle, leaves its handle for the program that runs under it. */
const TELEMETRY = Symbol.for('shop.telemetry');

/** What a running telemetry SDK offers to the process. */
export interface TelemetryHandle {
  /** Sends what is queued and ends; resolves within `TELEMETRY_SHUTDOWN_MS` even without a receiver. */
  shutdown(): Promise<void>;
}

type Host = { [TELEMETRY]?: TelemetryHandle | undefined };

/** Longest wait for the last export, in ms; the exporter alone would try for 8 to 10 s when the receiver is unavailable. */
export const TELEMETRY_SHUTDOWN_MS = 1_000;

/** Makes telemetry reachable for `shutdownTelemetry`; called once, by the preload. */
export function publishTelemetry(handle: TelemetryHandle): void {
  (globalThis as Host)[TELEMETRY] = handle;
}

/** Flushes and ends the telemetry of this process; does nothing when it runs without. The last step before exit. */
export async function shutdownTelemetry(): Promise<void> {
  await (globalThis as Host)[TELEMETRY]?.shutdown();
}
