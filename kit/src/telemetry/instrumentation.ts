/**
 * Who makes the spans of servers and clients: this code, or OpenTelemetry's instrumentations of the libraries that it uses
 * (decision 0074).
 */
export const instrumentationKinds = ['manual', 'stock'] as const;

export type InstrumentationKind = (typeof instrumentationKinds)[number];

/** Where the preload, which is a separate bundle, says so to the service that runs under it. */
const LIBRARIES_INSTRUMENTED = Symbol.for('shop.libraries-instrumented');

type Host = { [LIBRARIES_INSTRUMENTED]?: boolean };

/** Says that libraries are instrumented: our own spans of what they do would be second ones. */
export function announceInstrumentedLibraries(areInstrumented = true): void {
  (globalThis as Host)[LIBRARIES_INSTRUMENTED] = areInstrumented;
}

export function areLibrariesInstrumented(): boolean {
  return (globalThis as Host)[LIBRARIES_INSTRUMENTED] === true;
}
