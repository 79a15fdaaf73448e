import type { Witness } from './fault.ts';

/**
 * `injecting`: on disk, being injected. `active`: in effect until its time is over. `ending`: being taken back. `healed`:
 * taken back and seen to be gone. `remains`: could not be taken back; `shopctl chaos heal` tries again.
 */
export type LeaseStatus = 'injecting' | 'active' | 'ending' | 'healed' | 'remains';

/** One fault, from its injection to its end, as told by the control API and `chaos status --json`. */
export interface Lease {
  /** Six characters. */
  readonly id: string;
  readonly fault: string;
  readonly kind: string;
  readonly target: string;
  /** Times in ms. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly status: LeaseStatus;
  /** ISO time. */
  readonly since: string;
  readonly ttlMs: number;
  /** ISO time at which it ends by itself. */
  readonly expiresAt: string;
  /** It ends earlier when the command that holds it goes away. */
  readonly isHeld: boolean;
  readonly witness?: Witness;
  /** How it ended. */
  readonly end?: { readonly why: string; readonly tookMs: number; readonly evidence: string };
  /** Why it could not be taken back. */
  readonly problem?: string;
}

/** What is asked for. */
export interface InjectRequest {
  readonly fault: string;
  readonly target: string;
  /** Durations in ms, or as written (`3s`). */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly ttlMs: number;
  /** The fault ends when the connection that asked for it does. */
  readonly hold: boolean;
}

/** What an attempt to end faults came to. */
export interface HealResult {
  readonly healed: readonly Lease[];
  readonly remains: readonly Lease[];
}

/** Why a fault may end with nobody asking for it: as `end.why` says. */
export const endsByItself = { timeOver: 'its time is over', momentary: 'it happens once' } as const;

export const DEFAULT_TTL_MS = 60_000;
const MAX_TTL_MS = 24 * 3_600_000;

/** What is wrong with a time to live, ms; undefined when nothing is. Every fault has an end. */
export function ttlProblem(ttlMs: number): string | undefined {
  return Number.isFinite(ttlMs) && ttlMs >= 100 && ttlMs <= MAX_TTL_MS ? undefined : 'it must be between 100ms and 24h';
}

/** How long before `at` the fault began: it is told only once it was looked at, a kill once the process is back. ms. Pure. */
export function msSinceBegin({ since }: Pick<Lease, 'since'>, at: Date): number {
  return Math.max(0, at.getTime() - Date.parse(since));
}
