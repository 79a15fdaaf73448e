import type { ResolvedExperiment } from '../format/schema.ts';
import type { Finding } from './findings.ts';

/** Faults of an experiment: how many its method declares, and how many of them were seen in effect. */
export interface FaultsInEffect {
  readonly declared: number;
  readonly inEffect: number;
}

/** How many faults the method is to inject. Pure. */
export function countDeclared({ method }: Pick<ResolvedExperiment, 'method'>): number {
  return method.filter((step) => step.type === 'action' && step.provider.type === 'fault').length;
}

/** What was measured says nothing about faults of which none was ever in effect. Pure. */
export function checkFaults({ declared, inEffect }: FaultsInEffect): readonly Finding[] {
  if (declared === 0 || inEffect > 0) return [];
  return [{ verdict: 'unknown', reason: `no fault was ever in effect, of ${declared} that the experiment declares` }];
}

/** `1 of 2 faults in effect`, for people. Pure. */
export function describeFaults({ declared, inEffect }: FaultsInEffect): string {
  return declared === 0 ? 'no fault declared' : `${inEffect} of ${declared} faults in effect`;
}
