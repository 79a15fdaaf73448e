import type { CommandDeps } from '../../command-context.ts';
import type { PlatformNeeds } from '../../experiments/format/schema.ts';
import { type EphemeralPlatform, startEphemeral } from '../../experiments/run/ephemeral-platform.ts';
import type { MeasuringPlace } from '../../experiments/run/run-on-platforms.ts';
import type { Scenario } from '../format/schema.ts';
import { runTrial, type TrialOptions } from './run-trial.ts';
import type { TrialRecord } from './trial.ts';

/** What a run's own platform is given. */
export interface OwnPlaceOptions extends Pick<TrialOptions, 'scenarios' | 'seed' | 'onPlayed'> {
  /** Whose trials these are. */
  readonly project: Parameters<typeof startEphemeral>[0];
  readonly number: number;
  readonly output: CommandDeps['output'];
}

const NEEDS: PlatformNeeds = { failpoints: false, replicas: {}, env: {}, 'seeded-bugs': [], alerts: true };

/** A platform on which scenarios are played one after the other. It is started by the first one, and replaced for another number of replicas. */
export function openOwnPlace(options: OwnPlaceOptions, deps: CommandDeps): MeasuringPlace<Scenario, TrialRecord> {
  const { project, number, output } = options;
  const own = { ...deps, output };
  let platform: EphemeralPlatform | undefined;
  let replicas = '';
  const close = async () => {
    const ended = platform;
    platform = undefined;
    await ended?.end(output);
  };
  return {
    async measure(scenario) {
      const wanted = JSON.stringify(scenario.needs.replicas);
      if (replicas !== wanted) await close();
      replicas = wanted;
      platform ??= await startEphemeral(project, { ...NEEDS, replicas: scenario.needs.replicas }, own, number);
      const { scenarios, seed, onPlayed } = options;
      const common = { scenario, scenarios, onPlayed, env: deps.env, signal: deps.signal };
      return runTrial({ ...common, project: platform.project, ...(seed !== undefined && { seed }) });
    },
    close,
  };
}

/** Those that need the same replicas one after the other: a platform is started for each number of them. Pure. */
export function inOrder(scenarios: readonly Scenario[]): readonly Scenario[] {
  const replicasOf = ({ needs }: Scenario) => JSON.stringify(needs.replicas);
  return scenarios.toSorted((a, b) => replicasOf(a).localeCompare(replicasOf(b)));
}
