import type { FaultSession } from '../../../chaos/fault-session.ts';
import type { InjectRequest, Lease } from '../../../chaos/lease.ts';
import { messageOf } from '../../../errors.ts';
import type { FaultStep } from '../../format/schema.ts';
import type { RunContext } from '../run-context.ts';
import { type StepResult, unknown } from '../step-result.ts';

/** The lease's time to live lies a little beyond the run's budget, at whose end the run reverts it. ms. */
const TTL_SLACK_MS = 30_000;
const POLL_MS = 200;

/** Injects a fault and waits for its witness. What is not measurably in effect is unknown, never a pass. */
export async function injectFault(step: FaultStep, context: RunContext): Promise<StepResult> {
  const { faults, clock, signal, endsAt } = context;
  const { fault, target, parameters } = step.provider;
  const ttlMs = step.ttl ?? Math.round(Math.max(1_000, endsAt - clock.now())) + TTL_SLACK_MS;
  const request: InjectRequest = { fault, target, parameters, ttlMs, hold: true };
  const expected = `${fault} on ${target}, seen in effect`;
  let lease: Lease;
  try {
    lease = await faults.inject(step.name, request, signal);
  } catch (error) {
    signal.throwIfAborted();
    return unknown(`not injected: ${messageOf(error)}`, { expected });
  }
  return checkWitness(step, await untilDecided(lease, step.witness.within, context), context, expected);
}

/** Asking observes again. A failpoint that waits for its hit is observed again at the end of the method. */
async function untilDecided(lease: Lease, withinMs: number, context: RunContext): Promise<Lease> {
  const { faults, clock, signal } = context;
  const deadline = clock.now() + withinMs;
  let latest = lease;
  while ((latest.witness === undefined || latest.witness.verdict === 'not_observed') && clock.now() < deadline) {
    await clock.sleep(POLL_MS, signal);
    latest = (await faults.refresh(lease.id)) ?? latest;
  }
  return latest;
}

function checkWitness(
  step: FaultStep,
  { id, witness }: Lease,
  { journal, faults }: Pick<RunContext, 'journal' | 'faults'>,
  expected: string,
): StepResult {
  const verdict = witness?.verdict ?? 'not_observed';
  const evidence = witness?.evidence ?? 'it was never observed';
  journal.write({ type: 'witness', step: step.name, leaseId: id, verdict, evidence });
  if (verdict === 'observed') faults.witnessed(step.name);
  const observed = `${verdict}: ${evidence}`;
  // `pending` holds for now: see `checkPending`.
  return verdict === 'observed' || verdict === 'pending'
    ? { verdict: 'pass', expected, observed }
    : unknown(observed, { expected });
}

type Session = Pick<FaultSession, 'leaseOf' | 'refresh' | 'witnessed' | 'isWitnessed'>;

/**
 * Faults that waited for something to happen, at the end of the method: what has not happened by now was not tested. One
 * that the method has reverted was observed for the last time at its revert.
 */
export async function checkPending(
  step: FaultStep,
  { faults, journal }: { faults: Session; journal: RunContext['journal'] },
): Promise<StepResult | undefined> {
  const lease = faults.leaseOf(step.name);
  const before = lease?.witness?.verdict;
  if (lease === undefined || faults.isWitnessed(step.name)) return undefined;
  if (before !== 'pending' && before !== 'observed') return undefined;
  const latest = (await faults.refresh(lease.id)) ?? lease;
  const verdict = latest.witness?.verdict ?? 'not_observed';
  const evidence = latest.witness?.evidence ?? 'it was never observed';
  journal.write({ type: 'witness', step: step.name, leaseId: lease.id, verdict, evidence });
  if (verdict !== 'observed') return unknown(`${verdict}: ${evidence}`);
  faults.witnessed(step.name);
  return { verdict: 'pass', observed: `observed: ${evidence}` };
}
