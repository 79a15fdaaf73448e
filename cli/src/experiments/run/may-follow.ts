import type { RunVerdict } from '../../shared/verdict.ts';
import type { ResolvedExperiment } from '../format/schema.ts';

/**
 * Whether another experiment may have the platform after this run. What a run left that did not pass (a lost order, a
 * fault that is not reverted) must not be the next one's finding. Nor must lost telemetry: a process that has dropped a
 * span can never again show that there was none, and the next run would be unknown.
 */
export function mayFollow(verdict: RunVerdict, { method }: Pick<ResolvedExperiment, 'method'>): boolean {
  return verdict === 'pass' && !method.some(losesTelemetry);
}

function losesTelemetry(step: ResolvedExperiment['method'][number]): boolean {
  return step.type === 'action' && step.provider.type === 'fault' && step.provider.fault === 'telemetry-outage';
}
