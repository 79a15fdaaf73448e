import { randomUUID } from 'node:crypto';
import { CliError, messageOf, toCliError } from '../errors.ts';
import type { Asked } from '../platform/change-log.ts';
import { FULL_WEIGHT } from '../platform/fleet.ts';
import type { Release } from '../platform/release.ts';
import type { FleetControl } from '../platform/supervisor-extension.ts';
import { type RunClock, systemClock } from '../shared/clock.ts';
import type { DeployJournal } from './journal.ts';
import {
  type Cause,
  type DeployRun,
  type DeployState,
  isOver,
  type JournalRecord,
  runsIn,
  type Strategy,
} from './run.ts';
import { Trip } from './trip.ts';

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
  build(signal: AbortSignal): Promise<Release>;
}

/** What ran before, kept so that it can come back. */
export interface StableRelease {
  readonly kept: Release;
  /** What to run to have it again; undefined: what the clone has built, where that is the same still. */
  restored(): Promise<Release | undefined>;
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
  stable(service: string): Promise<StableRelease>;
  /** Orders through these instances. Rejects with Trip. */
  preflight(
    subject: { service: string; instances: readonly string[]; track: string },
    signal: AbortSignal,
  ): Promise<string>;
  /** Compares what an instance in the shadow would do with what is done, for `keepMs`. Rejects with Trip. */
  compare(instance: string, keepMs: number, signal: AbortSignal): Promise<string>;
  /** Something about the runs is another. */
  onChange(run: DeployRun): void;
  onProblem(message: string): void;
  readonly clock?: RunClock;
  readonly checkEveryMs?: number;
}

const CHECK_EVERY_MS = 250;

/** What operators do to a deploy that is not over. */
export type DeployAction = 'promote' | 'pause' | 'resume' | 'abort';

/** A deploy that this process carries out. */
interface Current {
  readonly id: string;
  readonly over: AbortController;
  isPaused: boolean;
  isPromoted: boolean;
  readonly done: Promise<void>;
}

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

  /** Begins a deploy, and resolves when it is on disk. Throws CliError (2) while another one is not over. */
  async start(plan: DeployPlan, { supersede = false } = {}): Promise<DeployRun> {
    if (supersede)
      await this.#rollBackCurrent({ kind: 'superseded', text: `superseded by a deploy of ${plan.service}` });
    if (this.#current) throw deployActive(this.current as DeployRun);
    const id = randomUUID().slice(0, 8);
    const over = new AbortController();
    const begun = Promise.withResolvers<void>();
    const current: Current = { id, over, isPaused: false, isPromoted: false, done: begun.promise };
    this.#current = current;
    try {
      const { service, strategy, source, version: to, keepMs, asked } = plan;
      const from = (await this.#deps.stable(service)).kept.version;
      await this.#append({ kind: 'planned', service, strategy, source, from, to, keepMs, asked }, id);
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
      if (state !== 'kept')
        throw notNow(action, state, 'only what is kept can be promoted: its calls are on the new release');
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
  async force(plan: DeployPlan): Promise<DeployRun> {
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
  }

  async #rollBackCurrent(cause: Cause): Promise<void> {
    const current = this.#current;
    current?.over.abort(new Trip(cause));
    await current?.done;
  }

  async #drive(plan: DeployPlan, current: Current): Promise<void> {
    const { id } = current;
    const work = new Work(plan, this.#deps.fleet);
    try {
      await this.#carryOut(plan, current, work);
    } catch (error) {
      const cause = causeOf(current.over.signal.aborted ? current.over.signal.reason : error);
      await this.#undo(id, work, cause).catch((problem: unknown) => {
        // The journal cannot be written: the next start of the platform finds the deploy unfinished, and is on the release of before.
        this.#deps.onProblem(`the deploy ${id} could not be recorded: ${messageOf(problem)}`);
      });
    }
  }

  async #carryOut(plan: DeployPlan, current: Current, work: Work): Promise<void> {
    const { fleet, guards, stable, preflight } = this.#deps;
    const { service, strategy } = plan;
    const { id, over } = current;
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
      work.staged = await fleet.stage(service, count, like, signal);
      const found = await preflight({ service, instances: work.staged, track }, signal);
      await this.#step(id, found);
    });
    await this.#to(id, 'shifting');
    if (strategy === 'rolling') await this.#roll(release, current, work);
    else {
      await this.#gate(current, work);
      await this.#step(id, `point all callers at ${work.staged.join(', ')}`);
      await this.#guarded(current, work, () => work.shift());
    }
    await this.#to(id, 'kept');
    await this.#guarded(current, work, (signal) => this.#keep(plan.keepMs, current, signal));
    await guards.conclude();
    over.signal.throwIfAborted();
    await fleet.adopt(service, release);
    await this.#to(id, 'done');
    if (strategy === 'blue-green') await this.#leaveOld(id, work);
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

  async #roll(release: Release, current: Current, work: Work): Promise<void> {
    await this.#guarded(current, work, (signal) => (work.isSurging ? work.surge(release, signal) : work.unstage()));
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
  async #guarded(current: Current, work: Work, task: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const tripped = new AbortController();
    const finished = new AbortController();
    const signal = AbortSignal.any([current.over.signal, tripped.signal]);
    signal.throwIfAborted();
    const watch = async () => {
      while (!finished.signal.aborted && !signal.aborted) {
        await this.#deps.guards.check(work.fresh());
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
    await this.#deps.guards.check(work.fresh());
  }

  async #undo(id: string, work: Work, cause: Cause): Promise<void> {
    if (this.#ending.signal.aborted) return this.#to(id, 'rolled-back', cause);
    await this.#to(id, 'rolling-back', cause);
    try {
      await work.undo((text) => this.#step(id, text), this.#ending.signal);
    } catch (error) {
      // What it was doing is over with the platform, which starts as it is recorded.
      if (this.#ending.signal.aborted) return this.#to(id, 'rolled-back', cause);
      const text = `${cause.text}; not rolled back: ${messageOf(error)}`;
      return this.#to(id, 'failed', { ...cause, text, error: toCliError(error).toJSON() }, true);
    }
    await this.#to(id, endOf(cause), cause);
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

type NewRecord = JournalRecord extends infer R ? (R extends JournalRecord ? Omit<R, 'time' | 'run'> : never) : never;

/** What it does is rolled back. */
function inShadow(release: Release): Release {
  return { ...release, env: { ...release.env, SHOP_SHADOW: '1' } };
}

function isSame(one: Release | undefined, other: Release | undefined): boolean {
  return one?.version === other?.version && one?.digest === other?.digest;
}

function causeOf(error: unknown): Cause {
  if (error instanceof Trip) return error.why;
  const { code, ...rest } = toCliError(error);
  const body = toCliError(error).toJSON();
  const isStart = code === 'instance_failed' || code === 'not_ready_in_time';
  const text = [rest.what, rest.why].filter((part) => part !== undefined).join(': ');
  return { kind: isStart ? 'guard' : 'error', ...(isStart && { guard: 'not-ready' }), text, error: body };
}

function endOf({ kind }: Cause): DeployState {
  if (kind === 'evidence') return 'inconclusive';
  return kind === 'error' ? 'failed' : 'rolled-back';
}

function deployActive({ service, to, state }: DeployRun): CliError {
  return new CliError({
    code: 'deploy_active',
    what: `a deploy of ${service} to ${to} is ${state}`,
    next: 'wait for its end ("shopctl deploy status"), roll it back ("shopctl deploy abort"), or add --supersede',
  });
}

function noDeploy(action: DeployAction): CliError {
  return new CliError({
    code: 'no_deploy',
    what: `there is no deploy to ${action}`,
    next: 'see "shopctl deploy history"; "shopctl deploy rollback SERVICE" deploys the release of before',
  });
}

function notNow(action: DeployAction, state: DeployState, why: string): CliError {
  return new CliError({ code: 'no_deploy', what: `the deploy cannot be made to ${action} while it is ${state}`, why });
}

/** What a deploy has done to the replicas of its service, and how it is rolled back. */
class Work {
  readonly #plan: DeployPlan;
  readonly #fleet: FleetControl;
  /** Names of the replicas that were there before. */
  readonly old: readonly string[];
  before: StableRelease | undefined;
  staged: readonly string[] = [];
  readonly #weights: Readonly<Record<string, number>>;
  readonly #replaced: string[] = [];
  #isShifted = false;

  constructor(plan: DeployPlan, fleet: FleetControl) {
    this.#plan = plan;
    this.#fleet = fleet;
    const members = fleet.fleetOf(plan.service);
    this.old = members.map(({ name }) => name);
    this.#weights = Object.fromEntries(members.map(({ name, weight }) => [name, weight]));
  }

  /** One is enough to try it out; a set has as many as there are. */
  staging(): { readonly track: 'canary' | 'blue' | 'green'; readonly count: number } {
    const { service, strategy } = this.#plan;
    if (strategy === 'rolling') return { track: 'canary', count: 1 };
    const isGreen = this.#fleet.fleetOf(service).some(({ track }) => track === 'green');
    return { track: isGreen ? 'blue' : 'green', count: this.old.length };
  }

  /** Instances that run the new release. */
  fresh(): readonly string[] {
    return [...this.staged, ...this.#replaced];
  }

  async shift(): Promise<void> {
    this.#isShifted = true;
    await this.#fleet.weigh(this.#plan.service, {
      ...Object.fromEntries(this.old.map((name) => [name, 0])),
      ...Object.fromEntries(this.staged.map((name) => [name, FULL_WEIGHT])),
    });
  }

  async replace(name: string, release: Release, signal: AbortSignal): Promise<void> {
    await this.#fleet.replace(this.#plan.service, name, release, signal);
    this.#replaced.push(name);
  }

  get isSurging(): boolean {
    return this.#plan.isSurging ?? false;
  }

  /** What was tried out serves beside the others, so that each of them can end before its successor starts. */
  async surge(release: Release, signal: AbortSignal): Promise<void> {
    const { service, isPublic } = this.#plan;
    if (isPublic) {
      await this.unstage();
      this.staged = await this.#fleet.stage(service, 1, { release, track: 'canary' }, signal);
    }
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

  /** Callers first. All of it is tried, and the first failure is thrown at the end. */
  async undo(say: (text: string) => Promise<void>, ending: AbortSignal): Promise<void> {
    const { service } = this.#plan;
    const problems: unknown[] = [];
    const attempt = async (text: string, task: () => Promise<void>) => {
      await say(text);
      await task().catch((error: unknown) => problems.push(error));
    };
    if (this.#isShifted) {
      const off = Object.fromEntries(this.staged.map((name) => [name, 0]));
      const back = () => this.#fleet.weigh(service, { ...off, ...this.#weights });
      await attempt(`point all callers at ${this.old.join(', ')} again`, back);
    }
    if (this.isSurging && this.#replaced.length > 0)
      await attempt('start 1 of before beside the others', () => this.#surgeBack(ending));
    for (const name of this.#replaced.toReversed()) {
      await attempt(`replace ${name} by what it ran before`, async () => {
        const release = await this.before?.restored();
        await this.#fleet.replace(service, name, release, ending);
        if (!isSame(release, this.#fleet.releaseOf(service))) await this.#fleet.adopt(service, release);
      });
    }
    // Those that never got ready are gone already.
    const present = this.#fleet.fleetOf(service).map(({ name }) => name);
    const left = present.filter((name) => !this.old.includes(name));
    if (left.length > 0) await attempt(`remove ${left.join(', ')}`, () => this.#fleet.unstage(service, left));
    if (problems.length > 0) throw problems[0];
  }
}
