import { setTimeout as delay } from 'node:timers/promises';
import type { Phase } from '../../../scenarios/lib/scenarios.ts';
import { endedByOthers, type FaultSession } from '../chaos/fault-session.ts';
import type { Lease } from '../chaos/lease.ts';
import type { WrittenFault } from '../chaos/written-fault.ts';
import { messageOf } from '../errors.ts';
import type { LoadCheck } from './checks.ts';

/** A fault of a run, as in `--json`. */
export interface RunFault {
  readonly target: string;
  readonly fault: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** ISO times; null when it never was in effect, is not gone, or it is unknown when others ended it. */
  readonly from: string | null;
  readonly to: string | null;
  /** It was seen in effect, and lasted until the load took it back or its own end. */
  readonly inEffect: boolean;
  readonly evidence: string;
}

export interface FaultWindow {
  readonly faults: readonly RunFault[];
  readonly checks: readonly LoadCheck[];
  /** Faults that could not be reverted. */
  readonly notReverted: readonly string[];
}

interface Injected {
  readonly chosen: WrittenFault;
  /** As it was then; a text: why it could not be injected. */
  readonly lease: Lease | string;
  /** ISO time. */
  readonly injectedAt: string;
}

/** Orders that were sent at the end of the phase before get their responses without the fault, ms. */
const LATER_MS = 1_000;
/** It is gone before the next phase begins, which is not checked either, ms. */
const EARLIER_MS = 2_000;
/** The command reverts it; the fault of a killed command ends with its connection, or after this time, ms. */
const TTL_SLACK_MS = 60_000;

/**
 * Injects the faults a second after the phase `fault` has begun, and reverts them two seconds before it ends.
 * `startedAt` is when the load began (monotonic, ms). Resolves when they are gone; what went wrong is reported by
 * checks.
 */
export async function runFaultWindow(
  { faults, session, phase }: { faults: readonly WrittenFault[]; session: FaultSession; phase: Phase },
  { startedAt, signal }: { startedAt: number; signal: AbortSignal },
): Promise<FaultWindow> {
  const beginsAt = startedAt + phase.startS * 1000 + LATER_MS;
  const endsAt = startedAt + (phase.startS + phase.durationS) * 1000 - EARLIER_MS;
  const injected: Injected[] = [];
  let notReverted: readonly string[] = [];
  try {
    await waitUntil(beginsAt, signal);
    for (const chosen of faults) {
      const lease = await inject(chosen, endsAt, session, signal);
      injected.push({ chosen, lease, injectedAt: new Date().toISOString() });
    }
    await waitUntil(endsAt, signal);
  } finally {
    notReverted = (await session.revert()).notReverted;
  }
  const revertedAt = new Date().toISOString();
  const ended = await Promise.all(
    injected.map(async (one) => ({
      ...one,
      last: typeof one.lease === 'string' ? one.lease : ((await session.refresh(one.lease.id)) ?? one.lease),
    })),
  );
  return {
    faults: ended.map(({ last, ...one }) => ({
      ...describeFault(one, last, revertedAt),
      inEffect: checkFault(one.chosen, last, session).verdict === 'pass',
    })),
    checks: ended.map(({ chosen, last }) => checkFault(chosen, last, session)),
    notReverted,
  };
}

/** Where the load ended before its faults could be checked. */
export function neverInEffect(faults: readonly WrittenFault[], evidence: string): Omit<FaultWindow, 'notReverted'> {
  return {
    faults: faults.map(({ target, fault, parameters }) => {
      return { target, fault, parameters, from: null, to: null, inEffect: false, evidence };
    }),
    checks: faults.map((chosen) => ({ ...checkOf(chosen), verdict: 'unknown', evidence })),
  };
}

async function inject(
  { target, fault, parameters }: WrittenFault,
  endsAt: number,
  session: FaultSession,
  signal: AbortSignal,
): Promise<Lease | string> {
  const ttlMs = Math.round(Math.max(1_000, endsAt - performance.now())) + TTL_SLACK_MS;
  try {
    return await session.inject(stepOf({ target, fault }), { fault, target, parameters, ttlMs, hold: true }, signal);
  } catch (error) {
    signal.throwIfAborted();
    return messageOf(error);
  }
}

function waitUntil(atMs: number, signal: AbortSignal): Promise<void> {
  return delay(Math.max(0, atMs - performance.now()), undefined, { signal });
}

function describeFault(
  { chosen: { target, fault, parameters }, lease: first, injectedAt }: Injected,
  last: Lease | string,
  revertedAt: string,
): Omit<RunFault, 'inEffect'> {
  const about = { target, fault, parameters };
  if (typeof first === 'string' || typeof last === 'string')
    return { ...about, from: null, to: null, evidence: String(last) };
  // One that happens once is over as soon as it is injected.
  const endedAt = first.status === 'reverted' ? injectedAt : endedByOthers(last) === undefined ? revertedAt : null;
  return {
    ...about,
    from: last.since,
    to: last.status === 'reverted' ? endedAt : null,
    evidence: last.witness?.evidence ?? 'it was never looked at',
  };
}

/** A fault that was not measurably in effect makes the run say nothing about it. */
function checkFault(chosen: WrittenFault, lease: Lease | string, session: FaultSession): LoadCheck {
  const check = checkOf(chosen);
  if (typeof lease === 'string') return { ...check, verdict: 'unknown', evidence: `not injected: ${lease}` };
  const why = endedByOthers(lease);
  if (why !== undefined) return { ...check, verdict: 'unknown', evidence: `others ended it before its time: ${why}` };
  if (session.isLost(stepOf(chosen)))
    return { ...check, verdict: 'unknown', evidence: 'it was not in place any more at its end' };
  const { verdict = 'not_observed', evidence = 'it was never looked at' } = lease.witness ?? {};
  return { ...check, verdict: verdict === 'observed' ? 'pass' : 'unknown', evidence: `${verdict}: ${evidence}` };
}

function checkOf(chosen: WrittenFault): Pick<LoadCheck, 'group' | 'name'> {
  return { group: 'fault', name: `${stepOf(chosen)} was in effect` };
}

function stepOf({ target, fault }: Pick<WrittenFault, 'target' | 'fault'>): string {
  return `${fault} on ${target}`;
}
