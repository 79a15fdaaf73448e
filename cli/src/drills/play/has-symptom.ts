import { createControlClient } from '../../platform/control-client.ts';
import type { Project } from '../../platform/project.ts';
import { requirePrometheus } from '../../shop/prometheus.ts';
import type { Scenario } from '../format/schema.ts';

/** Whether a scenario's metric shows its symptom now; undefined where customers show it. */
export function hasSymptomOf(
  { symptom }: Pick<Scenario, 'symptom'>,
  project: Project,
): (() => Promise<boolean>) | undefined {
  if (symptom.of !== 'metric') return undefined;
  return async () => {
    const prometheus = requirePrometheus(await createControlClient(project).state());
    const [sample] = await prometheus.queryInstant(symptom.query);
    return sample !== undefined && sample.value > symptom.above;
  };
}
