import type { CommandDeps } from '../../command-context.ts';
import type { PlatformNeeds } from '../../experiments/format/schema.ts';
import { type EphemeralPlatform, startEphemeral } from '../../experiments/run/ephemeral-platform.ts';
import type { MeasuringPlace } from '../../experiments/run/run-on-platforms.ts';
import type { Project } from '../../platform/project.ts';
import type { Scenario } from '../format/schema.ts';

export interface OwnPlatformOptions<Item, Played> {
  /** Whose rounds these are. */
  readonly project: Project;
  readonly number: number;
  readonly output: CommandDeps['output'];
  scenarioOf(item: Item): Pick<Scenario, 'needs'>;
  play(item: Item, on: Project): Promise<Played>;
}

const NEEDS: PlatformNeeds = { failpoints: false, replicas: {}, env: {}, 'seeded-bugs': [], alerts: true };

/** A platform on which rounds are played one after the other. It is started by the first one, and replaced for another number of replicas. */
export function openOwnPlatform<Item, Played>(
  { project, number, output, scenarioOf, play }: OwnPlatformOptions<Item, Played>,
  deps: CommandDeps,
): MeasuringPlace<Item, Played> {
  let platform: EphemeralPlatform | undefined;
  let replicas = '';
  const close = async () => {
    const ended = platform;
    platform = undefined;
    await ended?.end(output);
  };
  return {
    async measure(item) {
      const { needs } = scenarioOf(item);
      const wanted = JSON.stringify(needs.replicas);
      if (replicas !== wanted) await close();
      replicas = wanted;
      platform ??= await startEphemeral(project, { ...NEEDS, replicas: needs.replicas }, { ...deps, output }, number);
      return play(item, platform.project);
    },
    close,
  };
}
