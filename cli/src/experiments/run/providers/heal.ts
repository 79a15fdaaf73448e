import type { HealProvider } from '../../format/schema.ts';
import { type StepResult, unknown } from '../outcome.ts';
import type { RunContext } from '../run-context.ts';

/** Takes back one fault, or all of the run. What is left is a deviation here; the end of the run makes it dirty. */
export async function heal({ of }: HealProvider, { faults }: Pick<RunContext, 'faults'>): Promise<StepResult> {
  const timeOver = of === undefined ? undefined : faults.timeOver(of);
  const { healed, remains } = await faults.heal(of);
  const expected = of === undefined ? 'all faults gone' : `the fault of "${of}" gone`;
  if (remains.length > 0) return { outcome: 'deviated', expected, observed: `left: ${remains.join('; ')}` };
  if (timeOver !== undefined) return unknown(`${timeOver}: what was seen since was not seen under it`, { expected });
  const evidence = healed.map(({ fault, target, end }) => `${fault} on ${target}: ${end?.evidence ?? 'healed'}`);
  return { outcome: 'held', expected, observed: `${healed.length} healed`, evidence: evidence.join('\n') };
}
