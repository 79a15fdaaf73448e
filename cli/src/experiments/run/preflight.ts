import { createChaosClient } from '../../chaos/chaos-client.ts';
import type { PlannedFault } from '../../chaos/preflight.ts';
import { receivedError } from '../../errors.ts';
import type { Project } from '../../platform/project.ts';
import type { FoundExperiment } from '../format/catalog.ts';
import type { ResolvedExperiment } from '../format/schema.ts';
import type { Unavailable } from './host-requirements.ts';

/** Those of the experiments with a fault that cannot be injected into this running platform. Changes nothing. */
export async function unavailableOn(
  project: Project,
  experiments: readonly FoundExperiment[],
): Promise<readonly Unavailable[]> {
  const client = createChaosClient(project);
  const found: Unavailable[] = [];
  for (const one of experiments) {
    const responses = await client.check(plannedFaults(one.experiment));
    const error = responses.find((response) => response !== null);
    if (error) found.push({ found: one, obstacle: receivedError(error) });
  }
  return found;
}

/** Throws CliError (3) of the first that cannot be injected into this running platform. Changes nothing. */
export async function refuseNotInjectable(project: Project, planned: readonly PlannedFault[]): Promise<void> {
  if (planned.length === 0) return;
  const responses = await createChaosClient(project).check(distinct(planned));
  const error = responses.find((response) => response !== null);
  if (error) throw receivedError(error);
}

function distinct(planned: readonly PlannedFault[]): readonly PlannedFault[] {
  return [...new Map(planned.map((one) => [JSON.stringify(one), one])).values()];
}

function plannedFaults({ method }: Pick<ResolvedExperiment, 'method'>) {
  const all = method.flatMap((step) =>
    step.type === 'action' && step.provider.type === 'fault'
      ? [{ fault: step.provider.fault, target: step.provider.target, parameters: step.provider.parameters }]
      : [],
  );
  return distinct(all);
}
