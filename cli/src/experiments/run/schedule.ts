import type { FoundExperiment } from '../format/catalog.ts';
import { needsKey } from './needs.ts';

/**
 * Which experiment an ephemeral platform has next. Invariants: S1: every experiment is taken once. S2: a platform keeps
 * its needs while an experiment waits that has the same, for a start takes longer than many an experiment. S3: among
 * what it may choose from it takes the longest, so that the last ones to end are short; of equal ones the first.
 */
export class Schedule {
  readonly #groups: readonly Group[];
  readonly #removed = new Set<FoundExperiment>();

  /** `durationOf` in ms; the same for all keeps the order in which they are given. */
  constructor(experiments: readonly FoundExperiment[], durationOf: (found: FoundExperiment) => number) {
    const entries = experiments.map((found) => ({ found, ms: durationOf(found) })).toSorted((a, b) => b.ms - a.ms);
    this.#groups = [...Map.groupBy(entries, ({ found }) => needsKey(found.experiment.platform))]
      .map(([needs, waiting]) => ({ needs, waiting, platforms: 0 }))
      .toSorted((a, b) => timeOf(b) - timeOf(a));
  }

  /** The next one of a platform that has had `needs`; undefined when none waits. */
  take(needs?: string): FoundExperiment | undefined {
    const own = this.#groups.find((group) => group.needs === needs);
    if (own !== undefined && own.waiting.length > 0) return own.waiting.shift()?.found;
    if (own !== undefined) own.platforms -= 1;
    const chosen = this.#choose();
    if (chosen === undefined) return undefined;
    chosen.platforms += 1;
    return chosen.waiting.shift()?.found;
  }

  /** Those with the same needs that no platform has taken. */
  waitingFor(needs: string): readonly FoundExperiment[] {
    return this.#groups.find((group) => group.needs === needs)?.waiting.map(({ found }) => found) ?? [];
  }

  /** Removes it, however often it was to be repeated; false when it was removed before: it is reported once. */
  removeAll(found: FoundExperiment): boolean {
    if (this.#removed.has(found)) return false;
    this.#removed.add(found);
    for (const group of this.#groups) group.waiting = group.waiting.filter((one) => one.found !== found);
    return true;
  }

  /** One that no platform works on, then the one with the most left for each platform. */
  #choose(): Group | undefined {
    const share = (group: Group) => timeOf(group) / group.platforms;
    const left = this.#groups.filter(({ waiting }) => waiting.length > 0);
    return left.find(({ platforms }) => platforms === 0) ?? left.toSorted((a, b) => share(b) - share(a))[0];
  }
}

/** Experiments that can share a platform. */
interface Group {
  readonly needs: string;
  waiting: { readonly found: FoundExperiment; readonly ms: number }[];
  /** How many platforms work on it. */
  platforms: number;
}

function timeOf({ waiting }: Group): number {
  return waiting.reduce((sum, { ms }) => sum + ms, 0);
}

/** At most so many: a name of a project has room for two digits. */
export const MAX_PLATFORMS = 16;
/** Experiments wait most of the time: two platforms leave half of a core idle. */
const PLATFORMS_PER_CORE = 2;

/** As many platforms as this machine can run side by side. */
export function platformsOf(machine: { cores: number; memoryBytes: number; bytesPerPlatform: number }): number {
  const byCores = machine.cores * PLATFORMS_PER_CORE;
  const byMemory = Math.floor(machine.memoryBytes / machine.bytesPerPlatform);
  return Math.max(1, Math.min(byCores, byMemory, MAX_PLATFORMS));
}
