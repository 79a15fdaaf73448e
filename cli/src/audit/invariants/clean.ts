import type { InvariantResult, Violation } from '../invariant.ts';

export const CLEAN_TITLE = 'no fault acts';

/** What faults leave on a platform. */
export interface CleanFacts {
  readonly proxies: readonly {
    readonly name: string;
    readonly enabled: boolean;
    readonly toxics: readonly { readonly name: string }[];
  }[];
  /** Edges of the platform whose proxy is not there. */
  readonly missing: readonly string[];
  /** Processes of the platform that are stopped (state T), `payments-1 (process 4711)`. */
  readonly frozen: readonly string[];
  /** How many of its processes were looked at. */
  readonly processes: number;
  /** Faults that were not reverted, `latency on orders-payments (15fbad)`: known to the supervisor, or in the undo file. */
  readonly faults: readonly string[];
  /** `orders.stock-reserved:unsaved` */
  readonly armed: readonly string[];
}

/**
 * I14: every edge has its proxy, enabled and without toxics, no process is frozen, no fault is active or left in the undo file, no
 * failpoint is armed. Pure.
 */
export function cleanResult({ proxies, missing, frozen, processes, faults, armed }: CleanFacts): InvariantResult {
  const violations: Violation[] = [
    ...faults.map((fault) => `${fault} was not reverted`),
    ...missing.map((name) => `the proxy ${name} is not there`),
    ...proxies.filter(({ enabled }) => !enabled).map(({ name }) => `the proxy ${name} is disabled`),
    ...proxies.flatMap((proxy) => proxy.toxics.map(({ name }) => `the proxy ${proxy.name} has the toxic ${name}`)),
    ...frozen.map((name) => `${name} is frozen (state T)`),
    ...armed.map((name) => `the failpoint ${name} is armed`),
  ].map((detail) => ({ kind: 'unexpected', detail }));
  return {
    id: 'I14',
    title: CLEAN_TITLE,
    verdict: violations.length > 0 ? 'fail' : 'pass',
    evidence: `${proxies.length} proxies, ${processes} processes, ${faults.length} faults, ${armed.length} armed failpoints`,
    violations,
    inFlight: 0,
  };
}
