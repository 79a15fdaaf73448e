import type { Witness } from './fault.ts';

/**
 * `injecting`: on disk, being injected. `active`: in effect until its time to live expires. `ending`: being reverted.
 * `reverted`: verified to be gone. `undo_failed`: not reverted; `shopctl chaos clear --all` tries again.
 */
export type LeaseStatus = 'injecting' | 'active' | 'ending' | 'reverted' | 'undo_failed';

/** One fault, from its injection to its end, as reported by the control API and `chaos status --json`. */
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
  /** ISO time at which its time to live expires. */
  readonly expiresAt: string;
  /** It ends earlier when its holder, the connection of a command, is lost. */
  readonly isHeld: boolean;
  readonly witness?: Witness;
  /** How it ended. */
  readonly end?: { readonly why: string; readonly tookMs: number; readonly evidence: string };
  /** Why it could not be reverted. */
  readonly problem?: string;
}

/** The body of a request for a fault. */
export interface InjectRequest {
  readonly fault: string;
  readonly target: string;
  /** Durations in ms, or as written (`3s`). */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly ttlMs: number;
  /** The fault ends when the connection of the request does. */
  readonly hold: boolean;
}

/** A fault of a drill: it is in no list, no event and no file that says what it is. */
export interface HiddenRequest extends Omit<InjectRequest, 'hold'> {
  readonly hidden: true;
}

/** The result of an attempt to end faults. */
export interface ClearResult {
  readonly reverted: readonly Lease[];
  readonly notReverted: readonly Lease[];
}

/** `end.why` of a fault that ended without a request. */
export const endsAutomatically = { expired: 'its time to live expired', momentary: 'it happens once' } as const;

export const DEFAULT_TTL_MS = 60_000;
const MAX_TTL_MS = 24 * 3_600_000;

/** Why a time to live (ms) is invalid; undefined when it is valid. */
export function ttlProblem(ttlMs: number): string | undefined {
  return Number.isFinite(ttlMs) && ttlMs >= 100 && ttlMs <= MAX_TTL_MS ? undefined : 'it must be between 100ms and 24h';
}

/** How long before `at` the fault began, ms: it is reported after its witness, a kill after the restart. Pure. */
export function msSinceBegin({ since }: Pick<Lease, 'since'>, at: Date): number {
  return Math.max(0, at.getTime() - Date.parse(since));
}
