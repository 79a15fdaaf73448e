import type { ResolvedExperiment } from './schema.ts';
import { stepsOf } from './step-list.ts';

/** An experiment about alerts needs a platform that evaluates them, whether its file says so or not. Pure. */
export function withDerivedNeeds(experiment: ResolvedExperiment): ResolvedExperiment {
  const { platform } = experiment;
  return { ...experiment, platform: { ...platform, alerts: platform.alerts || isAboutAlerts(experiment) } };
}

function isAboutAlerts(experiment: ResolvedExperiment): boolean {
  const steps = stepsOf(experiment).map(({ step }) => step);
  const conditions = [...experiment.reach, ...experiment.never];
  return (
    conditions.some(({ event }) => event === 'alert.fired') ||
    steps.some(({ type, ...step }) => {
      if (type !== 'probe' || !('provider' in step)) return false;
      const { provider } = step;
      return provider.type === 'alert' || (provider.type === 'event' && provider.event === 'alert.fired');
    })
  );
}
