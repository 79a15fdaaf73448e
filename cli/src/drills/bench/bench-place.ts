import type { CommandDeps } from '../../command-context.ts';
import type { PlatformNeeds } from '../../experiments/format/schema.ts';
import { type EphemeralPlatform, startEphemeral } from '../../experiments/run/ephemeral-platform.ts';
import type { MeasuringPlace } from '../../experiments/run/run-on-platforms.ts';
import type { Project } from '../../platform/project.ts';
import type { Scenario } from '../format/schema.ts';
import type { BenchRecord } from './bench-journal.ts';
import type { BenchRound } from './plan.ts';

export interface BenchPlaceOptions {
  /** Whose bench this is. */
  readonly project: Project;
  readonly number: number;
  readonly output: CommandDeps['output'];
  scenarioOf(round: BenchRound): Scenario;
  play(round: BenchRound, on: Project): Promise<BenchRecord>;
}

const NEEDS: PlatformNeeds = { failpoints: false, replicas: {}, env: {}, 'seeded-bugs': [], alerts: true };

/** A platform on which rounds are played one after the other, which is replaced for another number of replicas. */
export function openBenchPlace(options: BenchPlaceOptions, deps: CommandDeps): MeasuringPlace<BenchRound, BenchRecord> {
  const { project, number, output, scenarioOf, play } = options;
  let platform: EphemeralPlatform | undefined;
  let replicas = '';
  const close = async () => {
    const ended = platform;
    platform = undefined;
    await ended?.end(output);
  };
  return {
    async measure(round) {
      const { needs } = scenarioOf(round);
      const wanted = JSON.stringify(needs.replicas);
      if (replicas !== wanted) await close();
      replicas = wanted;
      platform ??= await startEphemeral(project, { ...NEEDS, replicas: needs.replicas }, { ...deps, output }, number);
      return play(round, platform.project);
    },
    close,
  };
}
