import type { RevertProvider } from '../../format/schema.ts';
import type { RunContext } from '../run-context.ts';
import { type StepResult, unknown } from '../step-result.ts';

/** Reverts one fault, or all of the run. What is left is a failure here; the end of the run makes it dirty. */
export async function revert({ of }: RevertProvider, { faults }: Pick<RunContext, 'faults'>): Promise<StepResult> {
  const expiredTtl = of === undefined ? undefined : faults.expiredTtl(of);
  const { reverted, notReverted } = await faults.revert(of);
  const expected = of === undefined ? 'all faults gone' : `the fault of "${of}" gone`;
  if (notReverted.length > 0) return { verdict: 'fail', expected, observed: `left: ${notReverted.join('; ')}` };
  if (expiredTtl !== undefined)
    return unknown(`${expiredTtl}: what was seen since was not seen under it`, { expected });
  const evidence = reverted.map(({ fault, target, end }) => `${fault} on ${target}: ${end?.evidence ?? 'reverted'}`);
  return { verdict: 'pass', expected, observed: `${reverted.length} reverted`, evidence: evidence.join('\n') };
}
