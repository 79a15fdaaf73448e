import { FULL_WEIGHT } from '../platform/fleet.ts';
import type { Release } from '../platform/release.ts';
import type { FleetControl } from '../platform/supervisor-extension.ts';
import type { Arms } from './analysis/weights.ts';
import type { Strategy } from './run.ts';
import type { StableRelease } from './stable-release.ts';

type StagedMember = Parameters<FleetControl['stage']>[2];

/** What is deployed, and how. */
interface WorkPlan {
  readonly service: string;
  readonly strategy: Strategy;
  readonly isSurging?: boolean;
}

/** What a deploy has done to the replicas of its service, and how it is rolled back. */
export class Work {
  readonly #plan: WorkPlan;
  readonly #fleet: FleetControl;
  /** Names of the replicas that were there before. */
  readonly old: readonly string[];
  before: StableRelease | undefined;
  staged: readonly string[] = [];
  #baseline: readonly string[] = [];
  #like: StagedMember | undefined;
  readonly #weights: Readonly<Record<string, number>>;
  readonly #replaced: string[] = [];
  /** One that ends before its successor starts is gone, wherever its replacement is interrupted. */
  #interrupted: string | undefined;
  #isShifted = false;

  constructor(plan: WorkPlan, fleet: FleetControl) {
    this.#plan = plan;
    this.#fleet = fleet;
    const members = fleet.fleetOf(plan.service);
    this.old = members.map(({ name }) => name);
    this.#weights = Object.fromEntries(members.map(({ name, weight }) => [name, weight]));
  }

  /** One is enough to try it out; a set has as many as there are. */
  staging(): { readonly track: 'canary' | 'blue' | 'green'; readonly count: number } {
    const { service, strategy } = this.#plan;
    if (strategy !== 'blue-green') return { track: 'canary', count: 1 };
    const isGreen = this.#fleet.fleetOf(service).some(({ track }) => track === 'green');
    return { track: isGreen ? 'blue' : 'green', count: this.old.length };
  }

  /** Instances that run the new release. */
  fresh(): readonly string[] {
    return [...this.staged, ...this.#replaced];
  }

  /** Clients reach the new release. */
  get hasCalls(): boolean {
    return this.#isShifted;
  }

  arms(isPromoted = false): Arms {
    return { canary: this.staged, stable: this.old, baseline: isPromoted ? [] : this.#baseline };
  }

  async stage(count: number, like: StagedMember, signal: AbortSignal): Promise<void> {
    this.#like = like;
    this.staged = await this.#fleet.stage(this.#plan.service, count, like, signal);
  }

  /** As many more of the same. */
  async stageMore(count: number, signal: AbortSignal): Promise<void> {
    const added = await this.#fleet.stage(this.#plan.service, count, this.#like as StagedMember, signal);
    this.staged = [...this.staged, ...added];
  }

  async stageBaseline(signal: AbortSignal): Promise<void> {
    const release = this.before?.kept as Release;
    this.#baseline = await this.#fleet.stage(this.#plan.service, 1, { release, track: 'baseline' }, signal);
  }

  async unstageBaseline(): Promise<void> {
    const leaving = this.#baseline;
    this.#baseline = [];
    if (leaving.length > 0) await this.#fleet.unstage(this.#plan.service, leaving);
  }

  /** In one write. Those that are not named have no calls. */
  async weigh(weights: Readonly<Record<string, number>>): Promise<void> {
    this.#isShifted = true;
    const none = [...this.old, ...this.staged, ...this.#baseline].map((name) => [name, 0]);
    await this.#fleet.weigh(this.#plan.service, { ...Object.fromEntries(none), ...weights });
  }

  /** The canary is the stable set from now on, with all calls; its processes go on. */
  async relabel(): Promise<void> {
    await this.#fleet.weigh(
      this.#plan.service,
      {
        ...Object.fromEntries(this.old.map((name) => [name, 0])),
        ...Object.fromEntries(this.staged.map((name) => [name, FULL_WEIGHT])),
      },
      Object.fromEntries(this.staged.map((name) => [name, 'stable'])),
    );
  }

  async shift(): Promise<void> {
    this.#isShifted = true;
    await this.#fleet.weigh(this.#plan.service, {
      ...Object.fromEntries(this.old.map((name) => [name, 0])),
      ...Object.fromEntries(this.staged.map((name) => [name, FULL_WEIGHT])),
    });
  }

  async replace(name: string, release: Release, signal: AbortSignal): Promise<void> {
    if (this.isSurging) this.#interrupted = name;
    await this.#fleet.replace(this.#plan.service, name, release, signal);
    this.#interrupted = undefined;
    this.#replaced.push(name);
  }

  get isSurging(): boolean {
    return this.#plan.isSurging ?? false;
  }

  /** One more serves beside the others, so that each of them can end before its successor starts. */
  async surge(release: Release, signal: AbortSignal): Promise<void> {
    const { service } = this.#plan;
    this.staged = await this.#fleet.stage(service, 1, { release, track: 'canary' }, signal);
    this.#isShifted = true;
    await this.#fleet.weigh(service, Object.fromEntries(this.staged.map((name) => [name, FULL_WEIGHT])));
  }

  /** The same of what ran before, on the way back. */
  async #surgeBack(signal: AbortSignal): Promise<void> {
    const { service } = this.#plan;
    const release = await this.before?.restored();
    const names = await this.#fleet.stage(service, 1, { ...(release && { release }), track: 'stable' }, signal);
    await this.#fleet.weigh(service, Object.fromEntries(names.map((name) => [name, FULL_WEIGHT])));
  }

  async unstage(): Promise<void> {
    const leaving = this.staged;
    this.staged = [];
    await this.#fleet.unstage(this.#plan.service, leaving);
  }

  removeOld(): Promise<void> {
    return this.#fleet.unstage(this.#plan.service, this.old);
  }

  /**
   * Callers first. All of it is tried, and the first failure is thrown at the end. `limitMs`: the replicas of the release get no more
   * time to finish their requests.
   */
  async undo(say: (text: string) => Promise<void>, ending: AbortSignal, limitMs?: number): Promise<void> {
    const { service } = this.#plan;
    const problems: unknown[] = [];
    const attempt = async (text: string, task: () => Promise<void>) => {
      await say(text);
      await task().catch((error: unknown) => problems.push(error));
    };
    if (this.#isShifted) {
      const off = Object.fromEntries([...this.staged, ...this.#baseline].map((name) => [name, 0]));
      const back = () => this.#fleet.weigh(service, { ...off, ...this.#weights });
      await attempt(`point all callers at ${this.old.join(', ')} again`, back);
    }
    const changed = [...this.#replaced, ...(this.#interrupted === undefined ? [] : [this.#interrupted])];
    if (this.isSurging && changed.length > 0)
      await attempt('start 1 of before beside the others', () => this.#surgeBack(ending));
    for (const name of changed.toReversed()) {
      await attempt(`replace ${name} by what it ran before`, async () => {
        const release = await this.before?.restored();
        await this.#fleet.replace(service, name, release, ending);
        if (!isSame(release, this.#fleet.releaseOf(service))) await this.#fleet.adopt(service, release);
      });
    }
    // Those that never got ready are gone already.
    const present = this.#fleet.fleetOf(service).map(({ name }) => name);
    const left = present.filter((name) => !this.old.includes(name));
    const remove = async (names: readonly string[], limit?: number) => {
      if (names.length > 0)
        await attempt(`remove ${names.join(', ')}`, () => this.#fleet.unstage(service, names, limit));
    };
    if (limitMs === undefined) await remove(left);
    else {
      await remove(
        left.filter((name) => !this.#baseline.includes(name)),
        limitMs,
      );
      await remove(left.filter((name) => this.#baseline.includes(name)));
    }
    if (problems.length > 0) throw problems[0];
  }
}

export function isSame(one: Release | undefined, other: Release | undefined): boolean {
  return one?.version === other?.version && one?.digest === other?.digest;
}
