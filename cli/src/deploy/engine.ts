import { randomUUID } from 'node:crypto';
import { type CliError, messageOf, toCliError } from '../errors.ts';
import type { Asked } from '../platform/change-log.ts';
import type { Release } from '../platform/release.ts';
import type { FleetControl } from '../platform/supervisor-extension.ts';
import { type RunClock, systemClock } from '../shared/clock.ts';
import { Canary, type CanaryDeps } from './canary.ts';
import { evaluateRollout, keepRollout, type RolloutHost } from './canary-rollout.ts';
import { causeOf, drainLimitOf, endOf } from './causes.ts';
import type { Current, NewRecord } from './current.ts';
import type { DeployJournal } from './journal.ts';
import type { CanaryObserver } from './observe/seen.ts';
import { type DeployAction, deployActive, noDeploy, notNow } from './refusals.ts';
import {
  type CanaryTerms,
  type Cause,
  type DatedVerdict,
  type DeployRun,
  type DeployState,
  isOver,
  type JournalRecord,
  runsIn,
  type Strategy,
} from './run.ts';
import type { StableRelease } from './stable-release.ts';
import { Trip } from './trip.ts';
import { isSame, Work } from './work.ts';

/** What a deploy is to do, with everything about it known but its bundles. */
export interface DeployPlan {
  readonly service: string;
  readonly strategy: Strategy;
  /** For people: `HEAD~1`. */
  readonly source: string;
  readonly version: string;
  readonly keepMs: number;
  readonly asked: Asked;
  /** Clients know the port of the service alone: what is tried out has another one. */
  readonly isPublic: boolean;
  /** Replicas end before their successors start (containers pass no port on), so one more serves meanwhile. */
  readonly isSurging?: boolean;
  /** It is an image that was made before: `build` only keeps it. */
  readonly isBuilt?: boolean;
  /** Of the strategy `canary`. */
  readonly canary?: CanaryTerms;
  build(signal: AbortSignal): Promise<Release>;
}

/** Watches what a deploy does to the platform, from `begin` on. */
export interface Guards {
  begin(service: string): Promise<void>;
  /** Rejects with Trip. */
  check(instances: readonly string[]): Promise<void>;
  /** Rejects with Trip where something was never observed. */
  conclude(): Promise<void>;
}

export interface EngineDeps {
  readonly fleet: FleetControl;
  readonly journal: DeployJournal;
  readonly guards: Guards;
  readonly canary: CanaryDeps;
  stable(service: string): Promise<StableRelease>;
  /** Orders through these instances. Rejects with Trip. */
  preflight(
    subject: { service: string; instances: readonly string[]; track: string },
    signal: AbortSignal,
  ): Promise<string>;
  /** Has these instances end by `end`, with orders in flight. Rejects with Trip. */
  retire(
    subject: { service: string; instances: readonly string[]; track: string },
    end: () => Promise<void>,
    signal: AbortSignal,
  ): Promise<string>;
  /** Compares what an instance in the shadow would do with what is done, for `keepMs`. Rejects with Trip. */
  compare(instance: string, keepMs: number, signal: AbortSignal): Promise<string>;
  /** Why nothing may be deployed now, beside another deploy. */
  obstacle?(): CliError | undefined;
  /** Something about the runs is another. */
  onChange(run: DeployRun): void;
  onProblem(message: string): void;
  readonly clock?: RunClock;
  readonly checkEveryMs?: number;
  /** How often a canary is evaluated. */
  readonly lookEveryMs?: number;
}

const LOOK_EVERY_MS = 1_000;
const CHECK_EVERY_MS = 250;

/**
 * Carries out deploys, one at a time. It owns their journal and the order of their steps; the instances belong to the
 * platform. Invariants: D1: a state is on disk before its work begins. D2: until `done` a start of the platform has the
 * release of before, because only then the new one is recorded. D3: a deploy that ended without `done` has rolled back what it
 * did, or says that it could not. D4: what could not be observed never ends in `done`.
 */
export class DeployEngine {
  readonly #deps: EngineDeps;
  readonly #clock: RunClock;
  #records: JournalRecord[] = [];
  #current: Current | undefined;
  #forced: Promise<unknown> = Promise.resolve();
  readonly #ending = new AbortController();

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
  }

  /** Reads the journal. What an earlier process did not finish ended with it: the platform starts as it is recorded. */
  async recover(): Promise<void> {
    this.#records = [...(await this.#deps.journal.read())];
    for (const run of this.runs().filter(({ state }) => !isOver(state))) {
      const isAdopted =
        run.state === 'kept' &&
        run.releases !== undefined &&
        isSame(this.#deps.fleet.releaseOf(run.service), run.releases.to);
      if (isAdopted) await this.#to(run.id, 'done');
      else
        await this.#to(run.id, 'rolled-back', {
          kind: 'ended',
          text: `the supervisor ended while it was ${run.state}`,
        });
    }
  }

  /** The oldest first. */
  runs(): readonly DeployRun[] {
    return runsIn(this.#records);
  }

  get current(): DeployRun | undefined {
    const id = this.#current?.id;
    return id === undefined ? undefined : this.#run(id);
  }

  /** What was found of its canary in the last look. */
  get progress(): DatedVerdict | undefined {
    return this.#current?.canary?.last;
  }

  /** Begins a deploy, and resolves when it is on disk. Throws CliError (2) while another one, or what is in its way, is not over. */
  async start(plan: DeployPlan, { supersede = false } = {}): Promise<DeployRun> {
    if (supersede)
      await this.#rollBackCurrent({ kind: 'superseded', text: `superseded by a deploy of ${plan.service}` });
    this.#assertFree();
    const id = randomUUID().slice(0, 8);
    const over = new AbortController();
    const begun = Promise.withResolvers<void>();
    const current: Current = { id, over, isPaused: false, isPromoted: false, done: begun.promise };
    this.#current = current;
    try {
      const { service, strategy, source, version: to, keepMs, asked, canary } = plan;
      const from = (await this.#deps.stable(service)).kept.version;
      const terms = { service, strategy, source, from, to, keepMs, asked, ...(canary && { canary }) };
      await this.#append({ kind: 'planned', ...terms }, id);
    } catch (error) {
      this.#current = undefined;
      begun.resolve();
      throw error;
    }
    void this.#drive(plan, current).finally(() => {
      this.#current = undefined;
      begun.resolve();
    });
    return this.#run(id);
  }

  /** Throws CliError (2) where there is no deploy that it could be done to. */
  async act(action: DeployAction): Promise<DeployRun> {
    const current = this.#current;
    if (current === undefined) throw noDeploy(action);
    const { state, isPaused } = this.#run(current.id);
    if (action === 'abort') {
      await this.#rollBackCurrent({ kind: 'asked', text: 'asked for by an operator' });
    } else if (action === 'promote') {
      if (!['analysis', 'held', 'kept'].includes(state))
        throw notNow(action, state, 'only what clients reach can be promoted: a canary with a share, or what is kept');
      current.isPromoted = true;
      await this.#append({ kind: 'promoted' }, current.id);
    } else if (isPaused !== (action === 'pause')) {
      if (action === 'pause' && state === 'rolling-back') throw notNow(action, state, 'it is being rolled back');
      current.isPaused = action === 'pause';
      await this.#append({ kind: action === 'pause' ? 'paused' : 'resumed' }, current.id);
    }
    return this.#run(current.id);
  }

  /**
   * Has a service run a release without trying it out first and without watching it: it is known to be bad (a drill). Its journal is that of a
   * deploy, so that it can be rolled back as one. Rejects where an instance does not start; what was replaced stays then.
   */
  force(plan: DeployPlan): Promise<DeployRun> {
    const forced = this.#force(plan);
    // How it ended is for its asker; the end of the platform only waits until it is over.
    this.#forced = forced.catch(() => undefined);
    return forced;
  }

  async #force(plan: DeployPlan): Promise<DeployRun> {
    if (this.#current) throw deployActive(this.current as DeployRun);
    const { fleet, stable } = this.#deps;
    const { service, strategy, source, version: to, keepMs, asked } = plan;
    const signal = this.#ending.signal;
    const release = await plan.build(signal);
    const { kept } = await stable(service);
    const id = randomUUID().slice(0, 8);
    await this.#append({ kind: 'planned', service, strategy, source, from: kept.version, to, keepMs, asked }, id);
    await this.#append({ kind: 'releases', from: kept, to: release }, id);
    await this.#to(id, 'shifting');
    for (const { name } of fleet.fleetOf(service)) await fleet.replace(service, name, release, signal);
    await this.#to(id, 'kept');
    await fleet.adopt(service, release);
    await this.#to(id, 'done');
    return this.#run(id);
  }

  /** Has a service run what the clone has built. What is recorded first holds for the next start, wherever this ends. */
  async unpin(service: string): Promise<void> {
    const { fleet } = this.#deps;
    if (this.#current) throw deployActive(this.current as DeployRun);
    await fleet.adopt(service, undefined);
    for (const { name } of fleet.fleetOf(service)) await fleet.replace(service, name, undefined, this.#ending.signal);
  }

  /** The platform is taken down: what was begun ends with its processes. */
  async end(): Promise<void> {
    this.#ending.abort();
    await this.#rollBackCurrent({ kind: 'ended', text: 'the platform was taken down' });
    await this.#forced;
  }

  /** Nothing is awaited between this and what makes the deploy the current one. */
  #assertFree(): void {
    if (this.#current) throw deployActive(this.current as DeployRun);
    const obstacle = this.#deps.obstacle?.();
    if (obstacle !== undefined) throw obstacle;
  }

  async #rollBackCurrent(cause: Cause): Promise<void> {
    const current = this.#current;
    current?.over.abort(new Trip(cause));
    await current?.done;
  }

  async #drive(plan: DeployPlan, current: Current): Promise<void> {
    const { id } = current;
    const work = new Work(plan, this.#deps.fleet);
    const observer = plan.canary && this.#deps.canary.observe(plan.canary.plan);
    try {
      await this.#carryOut(plan, current, work, observer);
    } catch (error) {
      const cause = causeOf(current.over.signal.aborted ? current.over.signal.reason : error);
      await this.#undo(id, work, cause).catch((problem: unknown) => {
        // The journal cannot be written: the next start of the platform finds the deploy unfinished, and is on the release of before.
        this.#deps.onProblem(`the deploy ${id} could not be recorded: ${messageOf(problem)}`);
      });
    } finally {
      observer?.stop();
    }
  }

  async #carryOut(plan: DeployPlan, current: Current, work: Work, observer: CanaryObserver | undefined): Promise<void> {
    const { fleet, guards, stable, preflight } = this.#deps;
    const { service, strategy } = plan;
    const { id, over } = current;
    await observer?.begin();
    await this.#to(id, 'building');
    const release = await plan.build(over.signal);
    work.before = await stable(service);
    await this.#append({ kind: 'releases', from: work.before.kept, to: release }, id);
    await this.#to(id, 'preflight');
    await guards.begin(service);
    if (strategy === 'shadow') return this.#compare(plan, release, current, work);
    const { track, count } = work.staging();
    const like = { release, track, ...(plan.isPublic && { isPrivate: true as const }) };
    await this.#guarded(current, work, async (signal) => {
      await this.#step(id, `start ${count} of ${service} beside the others`);
      await work.stage(count, like, signal);
      const found = await preflight({ service, instances: work.staged, track }, signal);
      await this.#step(id, found);
    });
    if (plan.canary && observer) {
      const { samples } = this.#deps.canary;
      const now = () => this.#clock.date().getTime();
      current.canary = new Canary({ observer, samples, now, run: () => this.#run(id) });
      const host = this.#hostOf(current, work);
      const rollout = { terms: plan.canary, canary: current.canary, observer, current, work, release, host };
      await evaluateRollout(rollout);
      await keepRollout(rollout, plan.keepMs);
    } else {
      await this.#to(id, 'shifting');
      if (strategy === 'rolling') await this.#roll(plan, release, current, work);
      else {
        await this.#gate(current, work);
        await this.#step(id, `point all callers at ${work.staged.join(', ')}`);
        await this.#guarded(current, work, () => work.shift());
      }
      await this.#to(id, 'kept');
      await this.#guarded(current, work, (signal) => this.#keep(plan.keepMs, current, signal));
    }
    await guards.conclude();
    over.signal.throwIfAborted();
    if (plan.canary) await work.relabel();
    await fleet.adopt(service, release);
    await this.#to(id, 'done');
    if (strategy !== 'rolling') await this.#leaveOld(id, work);
  }

  /** It serves no client, and ends with its comparison. */
  async #compare({ service, keepMs }: DeployPlan, release: Release, current: Current, work: Work): Promise<void> {
    const { fleet, guards, compare } = this.#deps;
    const { id } = current;
    await this.#guarded(current, work, async (signal) => {
      await this.#step(id, `start 1 of ${service} in the shadow`);
      const like = { release: inShadow(release), track: 'canary' } as const;
      work.staged = await fleet.stage(service, 1, like, signal);
    });
    await this.#to(id, 'comparing');
    await this.#guarded(current, work, async (signal) => {
      for (const name of work.staged) await this.#step(id, await compare(name, keepMs, signal));
    });
    await guards.conclude();
    await work.unstage();
    await this.#to(id, 'compared');
  }

  /** The release runs now, whatever becomes of the old set. */
  async #leaveOld(id: string, work: Work): Promise<void> {
    try {
      await work.removeOld();
    } catch (error) {
      await this.#step(id, `the old replicas could not be removed: ${messageOf(error)}`);
    }
  }

  async #roll({ service }: DeployPlan, release: Release, current: Current, work: Work): Promise<void> {
    await this.#guarded(current, work, async (signal) => {
      const subject = { service, instances: work.staged, track: work.staging().track };
      await this.#step(current.id, await this.#deps.retire(subject, () => work.unstage(), signal));
      if (!work.isSurging) return;
      await this.#step(current.id, `start 1 more of ${service}, which serves meanwhile`);
      await work.surge(release, signal);
    });
    for (const name of work.old) {
      await this.#gate(current, work);
      await this.#step(current.id, `replace ${name}`);
      await this.#guarded(current, work, (signal) => work.replace(name, release, signal));
    }
    if (work.staged.length > 0) await this.#guarded(current, work, () => work.unstage());
  }

  /** Waits while it is paused. */
  async #gate(current: Current, work: Work): Promise<void> {
    if (!current.isPaused) return;
    await this.#guarded(current, work, async (signal) => {
      while (current.isPaused) await this.#clock.sleep(this.#everyMs, signal);
    });
  }

  async #keep(keepMs: number, current: Current, signal: AbortSignal): Promise<void> {
    let leftMs = keepMs;
    while (!current.isPromoted && (leftMs > 0 || current.isPaused)) {
      const pauseMs = Math.min(this.#everyMs, Math.max(leftMs, 1));
      await this.#clock.sleep(pauseMs, signal);
      if (!current.isPaused) leftMs -= pauseMs;
    }
  }

  /** Work that ends when a guard trips, or the deploy is rolled back. */
  async #guarded(
    current: Current,
    work: Work,
    task: (signal: AbortSignal) => Promise<void>,
    check = () => this.#deps.guards.check(work.fresh()),
  ): Promise<void> {
    const tripped = new AbortController();
    const finished = new AbortController();
    const signal = AbortSignal.any([current.over.signal, tripped.signal]);
    signal.throwIfAborted();
    const watch = async () => {
      while (!finished.signal.aborted && !signal.aborted) {
        await check();
        await this.#clock.sleep(this.#everyMs, AbortSignal.any([finished.signal, signal])).catch(() => undefined);
      }
    };
    const watching = watch().catch((error: unknown) => tripped.abort(error));
    try {
      await task(signal);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      finished.abort();
      await watching;
    }
    signal.throwIfAborted();
    await check();
  }

  async #undo(id: string, work: Work, cause: Cause): Promise<void> {
    if (this.#ending.signal.aborted) return this.#to(id, 'rolled-back', cause);
    await this.#to(id, 'rolling-back', cause);
    try {
      await work.undo((text) => this.#step(id, text), this.#ending.signal, drainLimitOf(cause));
    } catch (error) {
      // What it was doing is over with the platform, which starts as it is recorded.
      if (this.#ending.signal.aborted) return this.#to(id, 'rolled-back', cause);
      const text = `${cause.text}; not rolled back: ${messageOf(error)}`;
      return this.#to(id, 'failed', { ...cause, text, error: toCliError(error).toJSON() }, true);
    }
    await this.#to(id, endOf(cause), cause);
  }

  #hostOf(current: Current, work: Work): RolloutHost {
    const { id, over } = current;
    const lookEveryMs = this.#deps.lookEveryMs ?? LOOK_EVERY_MS;
    return {
      to: (state, cause) => this.#to(id, state, cause),
      step: (text) => this.#step(id, text),
      append: (what) => this.#append(what, id),
      guarded: (task, check) => this.#guarded(current, work, task, check),
      pause: () => this.#clock.sleep(lookEveryMs, over.signal),
      lookEveryMs,
    };
  }

  get #everyMs(): number {
    return this.#deps.checkEveryMs ?? CHECK_EVERY_MS;
  }

  #run(id: string): DeployRun {
    return this.runs().find((run) => run.id === id) as DeployRun;
  }

  #to(id: string, state: DeployState, cause?: Cause, isDirty = false): Promise<void> {
    return this.#append({ kind: 'state', state, ...(cause && { cause }), ...(isDirty && { isDirty: true }) }, id);
  }

  #step(id: string, text: string): Promise<void> {
    return this.#append({ kind: 'step', text }, id);
  }

  async #append(what: NewRecord, run: string): Promise<void> {
    const record = { time: this.#clock.date().toISOString(), run, ...what } as JournalRecord;
    await this.#deps.journal.append(record);
    this.#records.push(record);
    this.#deps.onChange(this.#run(run));
  }
}

/** What it does is rolled back. */
function inShadow(release: Release): Release {
  return { ...release, env: { ...release.env, SHOP_SHADOW: '1' } };
}
