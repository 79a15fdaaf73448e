import { audit } from '../../../audit/audit.ts';
import { type InvariantResult, VERDICT_WORDS } from '../../../audit/invariant.ts';
import { worst } from '../../../shared/verdict.ts';
import type { AuditProbe } from '../../format/schema.ts';
import type { RunContext } from '../run-context.ts';
import { type StepResult, unknown, verdictWhere } from '../step-result.ts';

/** The ledger in the middle of a method: what is in flight is allowed, what is late is not. */
export async function probeAudit({ provider }: AuditProbe, { platform, signal }: RunContext): Promise<StepResult> {
  const { invariants } = await audit({ target: platform.audited, settleMs: 0, signal });
  return checkLedger(provider, invariants);
}

/** Holds when each of the wanted invariants has the wanted verdict. */
export function checkLedger(
  { invariants: wanted, verdict: wantedVerdict }: AuditProbe['provider'],
  invariants: readonly InvariantResult[],
): StepResult {
  const chosen = invariants.filter(({ id }) => wanted.includes(id));
  const expected = `${wanted.join(', ')} ${wantedVerdict === 'pass' ? 'hold' : 'are violated'}`;
  const missing = wanted.filter((id) => !chosen.some((one) => one.id === id));
  if (missing.length > 0) return unknown(`the audit has no ${missing.join(', ')}`, { expected });
  return {
    verdict: worst(chosen.map((one) => verdictWhere(wantedVerdict, one.verdict))),
    expected,
    observed: chosen.map((one) => `${one.id} ${VERDICT_WORDS[one.verdict]}`).join(', '),
    evidence: chosen.map(({ id, title, evidence }) => `${id} ${title}: ${evidence}`).join('\n'),
  };
}
