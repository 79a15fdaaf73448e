import { CliError } from '../errors.ts';
import type { Release } from '../platform/release.ts';
import type { InstanceState } from '../platform/state.ts';
import type { FleetControl } from '../platform/supervisor-extension.ts';
import { builtAtMs, builtDigest, keepBuilt } from './release-build.ts';

/** What ran before, kept so that it can come back. */
export interface StableRelease {
  readonly kept: Release;
  /** What to run to have it again; undefined: what the clone has built, where that is the same still. */
  restored(): Promise<Release | undefined>;
}

/**
 * What a service runs now, in a copy that the next build of the clone leaves as it is. Throws CliError (3) where the clone has been
 * built since its instances were started: what they run is not there any more.
 */
export async function stableRelease(
  service: string,
  root: string,
  { fleet, instances }: { fleet: Pick<FleetControl, 'releaseOf'>; instances: readonly InstanceState[] },
): Promise<StableRelease> {
  const recorded = fleet.releaseOf(service);
  if (recorded !== undefined) return { kept: recorded, restored: async () => recorded };
  const own = instances.filter((one) => one.service === service);
  const builtAt = await builtAtMs(service, root);
  const stale = own.find(({ startedAt }) => startedAt !== undefined && Date.parse(startedAt) < builtAt);
  if (stale !== undefined) throw builtOver(service, stale.name);
  const kept = await keepBuilt(service, root, own[0]?.version ?? '0.0.0');
  return {
    kept,
    restored: async () => ((await builtDigest(service, root)) === kept.digest ? undefined : kept),
  };
}

function builtOver(service: string, instance: string): CliError {
  return new CliError({
    code: 'release_unavailable',
    what: `what ${instance} runs could not be started again`,
    why: 'the clone was built since it was started, so a deploy could not be rolled back',
    next: `run "shopctl restart ${service}", then this command again`,
  });
}
