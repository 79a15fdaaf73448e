import { setTimeout as delay } from 'node:timers/promises';
import type { Track } from '@shop/kit/release.ts';
import { SUCCESSOR_SERVES } from '@shop/kit/succession.ts';
import type { InstrumentationKind } from '@shop/kit/telemetry/instrumentation.ts';
import { CliError, messageOf } from '../errors.ts';
import type { StartingRelease } from '../providers/schema/contract-migrations.ts';
import { instanceName } from '../topology/services.ts';
import type { UpRequest } from './control-client.ts';
import type { EventLog } from './events.ts';
import { type Fleet, type FleetMember, freeNumbers, relabelled, resized, usualMembers } from './fleet.ts';
import { stopOrder } from './graph.ts';
import { defaultLimits, Instance, type SupervisionLimits } from './instance.ts';
import type { OperationRequest, OperationResult, OperationStep } from './operations.ts';
import type { Overrides } from './overrides.ts';
import { MAX_REPLICAS, type Plan, type Planner } from './plan.ts';
import type { Release } from './release.ts';
import { RoutingTable } from './routing-table.ts';
import type { RuntimeKind } from './service-runtime.ts';
import type { EdgeState, InstanceState, StartStep } from './state.ts';
import { notReplaced, type Succession, splitSuccessions } from './succession.ts';
import type { StartConditions, Unit } from './unit.ts';
import { unknownService } from './unknown-service.ts';
import type { Share, UpstreamsWriter } from './upstreams-file.ts';

/** How long one start may take that was asked for by name. */
const START_LIMIT_MS = 60_000;

/** What an `up` did. */
export interface UpResult {
  /** Instances this call started or restarted; all of them are ready. */
  readonly started: readonly string[];
  /** What this call changed in components that went on running: `migration orders/0007_refunds`. */
  readonly applied: readonly string[];
  readonly tookMs: number;
}

export interface PlatformOptions {
  readonly planner: Planner;
  readonly events: EventLog;
  readonly limits?: SupervisionLimits;
  /** Where callers find the addresses that they may call. */
  readonly upstreams: UpstreamsWriter;
  /** What operators have changed, and where it is kept. */
  readonly overrides: { readonly initial: Overrides; save(overrides: Overrides): Promise<void> };
  /** Called whenever something that belongs into state.json has changed. */
  readonly onChange: () => void;
}

/**
 * The instances of one project and what may be done to them. One change at a time; `down` ends what others wait for. It
 * owns instances; processes belong to their instance.
 */
export class Platform {
  readonly #planner: Planner;
  readonly #events: EventLog;
  readonly #limits: SupervisionLimits;
  readonly #onChange: () => void;
  readonly #routing: RoutingTable;
  readonly #instances = new Map<string, Instance>();
  #plan: Plan | undefined;
  #replicas: Readonly<Record<string, number>>;
  /** Where replicas differ from `usualMembers`; lost with this process, whose successor starts from what is recorded. */
  #fleet: Fleet = {};
  readonly #saveOverrides: (overrides: Overrides) => Promise<void>;
  #overrides: Overrides;
  readonly #conditions = new Map<string, StartConditions>();
  #wantsDirect = false;
  #wantedRuntime: RuntimeKind = 'process';
  #wantedInstrumentation: InstrumentationKind = 'manual';
  #wantsAlerts = false;
  #report: StartStep[] = [];
  #current: Promise<unknown> = Promise.resolve();
  #abortUp: AbortController | undefined;
  /** Ends what any other command waits for; a `down` makes a new one when it is over. */
  #abortWaits = new AbortController();
  #isStopping = false;

  constructor({ planner, events, limits = defaultLimits, upstreams, overrides, onChange }: PlatformOptions) {
    this.#overrides = overrides.initial;
    this.#saveOverrides = overrides.save;
    this.#replicas = overrides.initial.replicas;
    this.#routing = new RoutingTable({
      writer: upstreams,
      announceMs: limits.announceMs,
      overrides: () => this.#overrides,
      shares: () => this.#shares(),
    });
    this.#planner = planner;
    this.#events = events;
    this.#limits = limits;
    this.#onChange = onChange;
  }

  get plan(): Plan | undefined {
    return this.#plan;
  }

  get replicas(): Readonly<Record<string, number>> {
    return this.#replicas;
  }

  /** The proxies, and which of them callers pass by. */
  get edges(): readonly EdgeState[] {
    return (this.#plan?.edges ?? []).map((edge) => {
      const isPassedBy = this.#overrides.onStandby.some((name) => this.#routing.isOn(name, edge.listen));
      return isPassedBy ? { ...edge, via: 'standby' } : edge;
    });
  }

  get startReport(): readonly StartStep[] {
    return this.#report;
  }

  get isIdle(): boolean {
    return this.#instances.size === 0;
  }

  snapshots(): readonly InstanceState[] {
    const order = this.#plan?.units.map(({ name }) => name) ?? [];
    const inOrder = [...this.#instances.values()].sort(
      (a, b) => order.indexOf(a.unit.name) - order.indexOf(b.unit.name),
    );
    return inOrder.map((instance) => {
      const upstream = this.#routing.stateOf(instance.unit.name);
      return { ...instance.snapshot(), ...(upstream && { upstream }) };
    });
  }

  get status(): 'starting' | 'ready' | 'degraded' | 'stopping' | 'stopped' {
    if (this.#isStopping) return 'stopping';
    const kept = [...this.#instances.values()].filter(({ isDesired }) => isDesired);
    if (kept.length === 0) return 'stopped';
    if (this.#abortUp) return 'starting';
    return kept.every(({ status }) => status === 'ready') ? 'ready' : 'degraded';
  }

  /**
   * Brings up what is asked and waits until it is ready. When it fails, or `signal` aborts, what this call started is
   * stopped again if the caller disconnected, and left for inspection if it was not ready in time.
   */
  async up(request: UpRequest, signal: AbortSignal): Promise<UpResult> {
    this.#checkNames(request);
    return this.#exclusively(() => this.#up(request, signal));
  }

  /** Stops everything, dependents first. */
  async down(timeoutMs?: number): Promise<void> {
    this.#isStopping = true;
    const reason = new CliError({ code: 'start_cancelled', what: 'stopped by "shopctl down"' });
    const waits = this.#abortWaits;
    this.#abortUp?.abort(reason);
    waits.abort(reason);
    this.#onChange();
    try {
      await this.#exclusively(async () => {
        await this.#stop([...this.#instances.keys()], timeoutMs);
        this.#instances.clear();
      });
    } finally {
      if (this.#abortWaits === waits) this.#abortWaits = new AbortController();
      this.#isStopping = false;
      this.#onChange();
    }
  }

  /**
   * Stops, starts or restarts a service (all replicas), one instance of it, or a component. Resolves when done and ready.
   * What starts is what is built now. Replicas are restarted one after the other; the rest stays where one does not get ready.
   */
  async act(name: string, action: 'start' | 'stop' | 'restart'): Promise<void> {
    this.#find(name);
    await this.#exclusively(async () => {
      const over = this.#abortWaits.signal;
      over.throwIfAborted();
      const chosen = this.#find(name);
      if (action === 'stop') return void (await Promise.all(chosen.map((instance) => instance.stop())));
      const units = await this.#asBuilt(chosen);
      await this.#admitPlanned(servicesOf(chosen));
      const replace = async (round: readonly Instance[]) => {
        const limit = AbortSignal.any([over, AbortSignal.timeout(START_LIMIT_MS)]);
        const { successions, others } = splitSuccessions(round, action === 'restart' ? units : new Map());
        const ending = others.filter(({ status }) => action === 'restart' || status === 'failed');
        await this.#announceLeaving(ending);
        await Promise.all(ending.map((instance) => instance.stop()));
        const started = others.map((instance) => {
          const unit = units.get(instance.unit.name);
          return instance.isDesired || unit === undefined ? instance : this.#instanceAs(unit);
        });
        for (const instance of started) instance.start();
        // A debugger may attach at any time.
        const awaited = started.filter(({ unit }) => unit.inspector === undefined);
        await Promise.all(awaited.map((instance) => this.#ready(instance, limit)));
        await this.#handOverAll(successions, () => 'asked to restart', limit);
      };
      await this.#inRounds(action === 'start' ? [chosen] : roundsOf(chosen), replace, over);
    });
  }

  /**
   * Does what an operator asks for, step by step: what is wanted is on disk before anything else happens. With `dryRun` it
   * resolves with the steps and changes nothing. Replicas that do not get ready are stopped again, and nothing is changed.
   */
  async operate(request: OperationRequest, { dryRun }: { dryRun: boolean }): Promise<OperationResult> {
    return this.#exclusively(async () => {
      const steps = this.#stepsOf(request);
      for (const { run, ...step } of dryRun ? [] : steps) {
        this.#events.add(`${request.kind}.${step.action}`, step.targets.join(', '), step.text);
        await run();
      }
      return { changed: steps.length > 0, dryRun, steps: steps.map(({ run: _, ...step }) => step) };
    });
  }

  #stepsOf(request: OperationRequest): readonly RunnableStep[] {
    switch (request.kind) {
      case 'scale':
        return this.#scaleSteps(request.replicas);
      case 'drain':
        return this.#drainSteps(request.instance, request.undo);
      case 'reroute':
        return this.#rerouteSteps(request.edge, request.via);
    }
  }

  #scaleSteps(wanted: Readonly<Record<string, number>>): readonly RunnableStep[] {
    const namesNow = (service: string) =>
      [...this.#instances.values()].filter(({ unit }) => unit.service === service).map(({ unit }) => unit.name);
    const changes = Object.entries(wanted).map(([service, count]) => {
      this.#checkScale(service, count);
      const now = namesNow(service);
      const then = resized(this.#membersOf(service), count).map(({ number }) => instanceName(service, number));
      const isAsked = (this.#replicas[service] ?? 1) === count && (this.#overrides.replicas[service] ?? 1) === count;
      return {
        service,
        count,
        then,
        isSo: isAsked && now.length === count,
        added: then.filter((name) => !now.includes(name)),
        removed: now.filter((name) => !then.includes(name)),
      };
    });
    const open = changes.filter(({ isSo }) => !isSo);
    const added = open.flatMap((change) => change.added);
    const removed = open.flatMap((change) => change.removed);
    if (open.length === 0) return [];
    for (const { service, then, removed: gone } of open) this.#checkDrainsLeave(service, then, gone);
    const before = this.#wanted();
    const counts = Object.fromEntries(open.map(({ service, count }) => [service, count]));
    const replicas = { ...this.#overrides.replicas, ...counts };
    const after = {
      overrides: {
        ...this.#overrides,
        replicas: Object.fromEntries(Object.entries(replicas).filter(([, count]) => count !== 1)),
        draining: this.#overrides.draining.filter((name) => !removed.includes(name)),
      },
      replicas: { ...this.#replicas, ...counts },
    };
    const counted = open.map(({ service, count }) => `${service} has ${count} ${count === 1 ? 'replica' : 'replicas'}`);
    return [
      {
        action: 'record',
        targets: open.map(({ service }) => service),
        text: `record that ${listed(counted)}`,
        run: () => this.#want(after),
      },
      ...only(
        added,
        'start',
        (names) => `start ${names} and wait for readiness`,
        () => this.#add(added, before),
      ),
      ...only(
        added,
        'announce',
        (names) => `announce ${names} to their callers`,
        () => this.#routing.announce(),
      ),
      ...only(
        removed,
        'announce',
        (names) => `announce that ${names} take no new work`,
        () => this.#leave(removed),
      ),
      ...only(
        removed,
        'stop',
        (names) => `stop ${names} once their requests have ended`,
        () => this.#stop(removed),
      ),
      ...only(
        removed,
        'remove',
        (names) => `remove ${names} and their proxies`,
        async () => {
          const gone = removed.map((name) => this.#instances.get(name)).filter((instance) => instance !== undefined);
          await Promise.all(gone.map(({ unit }) => this.#forget(unit)));
        },
      ),
    ];
  }

  /** Throws CliError (2) for a number of replicas that this service cannot have. */
  #checkScale(service: string, count: number): void {
    if (!this.#planner.serviceNames.includes(service)) throw unknownService(service, this.#planner.serviceNames);
    if (this.#plan === undefined || ![...this.#instances.values()].some(({ unit }) => unit.service === service)) {
      throw new CliError({
        code: 'component_not_running',
        what: `${service} is not in the running platform`,
        next: `start it with "shopctl up ${service}"`,
      });
    }
    if (Number.isInteger(count) && count >= 1 && count <= MAX_REPLICAS) return;
    throw new CliError({
      code: 'invalid_scale',
      what: `${service} cannot have ${count} replicas`,
      why: `a service has 1 to ${MAX_REPLICAS} replicas on one machine`,
      next:
        count === 0
          ? `stop it with "shopctl stop ${service}"`
          : `use "shopctl scale ${service}=${MAX_REPLICAS}" or less`,
    });
  }

  /** Throws CliError (2) where only replicas would be left that get no calls. */
  #checkDrainsLeave(service: string, left: readonly string[], removed: readonly string[]): void {
    if (left.some((name) => !this.#overrides.draining.includes(name)) || removed.length === 0) return;
    throw new CliError({
      code: 'invalid_scale',
      what: `${service} cannot have ${left.length} ${left.length === 1 ? 'replica' : 'replicas'} now`,
      why: `${listed(left)} would be left, and ${left.length === 1 ? 'is' : 'are'} drained`,
      next: `run "shopctl drain ${left[0]} --undo" first`,
    });
  }

  /** On disk and in the plan; what runs goes on as it is. */
  async #want({ overrides, replicas, fleet = this.#resized(replicas) }: Wanted) {
    const plan = await this.#planAgain(this.#plan as Plan, new Set(this.#running()), { overrides, replicas, fleet });
    await this.#saveOverrides(overrides);
    this.#overrides = overrides;
    this.#replicas = replicas;
    this.#fleet = fleet;
    this.#plan = plan;
    this.#routing.plan(plan.routes, ({ instance = '' }) => this.#instances.has(instance));
    this.#onChange();
  }

  /** What a service consists of, by what was asked for. */
  #membersOf(service: string, wanted: Wanted = this.#wanted()): readonly FleetMember[] {
    const { overrides, replicas, fleet = this.#fleet } = wanted;
    return fleet[service] ?? usualMembers(replicas[service] ?? 1, overrides.releases[service]);
  }

  #wanted(): Wanted & { readonly fleet: Fleet } {
    return { overrides: this.#overrides, replicas: this.#replicas, fleet: this.#fleet };
  }

  /** With other numbers of replicas. */
  #resized(replicas: Readonly<Record<string, number>>): Fleet {
    const changed = Object.entries(this.#fleet).map(([service, members]) => [
      service,
      resized(members, replicas[service] ?? 1),
    ]);
    return Object.fromEntries(changed) as Fleet;
  }

  #fleetOf(wanted: Wanted): Fleet {
    return Object.fromEntries(this.#planner.serviceNames.map((name) => [name, this.#membersOf(name, wanted)]));
  }

  #shares(): ReadonlyMap<string, Share> {
    const members = Object.entries(this.#fleet).flatMap(([service, all]) =>
      all.map(({ number, track, weight, release }): [string, Share] => [
        instanceName(service, number),
        { track, weight, ...(release && { version: release.version }) },
      ]),
    );
    return new Map(members);
  }

  /** Starts planned instances; where one does not get ready, all of them are removed, and it is as `before`. */
  async #add(names: readonly string[], before: Wanted, asked?: AbortSignal) {
    const units = (this.#plan?.units ?? []).filter(({ name }) => names.includes(name));
    try {
      const limit = this.#limit(asked);
      await this.#admitPlanned(units.map(({ service }) => service));
      // What is to take no work reads it before it could take any.
      for (const name of names) this.#routing.join(name);
      await this.#routing.publish();
      await Promise.all(
        units.map(async (unit) => {
          const instance = this.#instanceAs(unit);
          instance.start();
          if (unit.inspector === undefined) await this.#ready(instance, limit);
        }),
      );
    } catch (error) {
      await this.#stop(names);
      await Promise.all(units.map((unit) => this.#forget(unit)));
      await this.#want(before);
      throw error;
    }
  }

  /** For a start that was asked for by name. */
  #limit(asked?: AbortSignal): AbortSignal {
    const over = [this.#abortWaits.signal, AbortSignal.timeout(START_LIMIT_MS)];
    return AbortSignal.any(asked ? [...over, asked] : over);
  }

  /** Replicas of a service, with their names. */
  fleetOf(service: string): readonly NamedMember[] {
    return this.#membersOf(service).map((member) => ({ ...member, name: instanceName(service, member.number) }));
  }

  /** What a service runs after a start of the platform; undefined: what the clone has built. */
  releaseOf(service: string): Release | undefined {
    return this.#overrides.releases[service];
  }

  /**
   * Adds replicas that get no work, and resolves with their names when they are ready. Where one does not get ready, all of them
   * are removed.
   */
  async stage(service: string, count: number, like: StagedMember, signal: AbortSignal): Promise<readonly string[]> {
    return this.#exclusively(async () => {
      const before = this.#wanted();
      const members = this.#membersOf(service);
      const added = freeNumbers(members, count).map((number): FleetMember => ({ ...like, number, weight: 0 }));
      const names = added.map(({ number }) => instanceName(service, number));
      await this.#want({ ...before, fleet: { ...before.fleet, [service]: [...members, ...added] } });
      await this.#add(names, before, signal);
      await this.#routing.announce();
      return names;
    });
  }

  /**
   * Changes shares of the calls, and the tracks to which replicas belong, in one write, and resolves when the callers have read it.
   * The processes go on.
   */
  async weigh(
    service: string,
    weights: Readonly<Record<string, number>>,
    tracks: Readonly<Record<string, Track>> = {},
  ): Promise<void> {
    await this.#exclusively(async () => {
      const members = this.#membersOf(service).map((member) => {
        const name = instanceName(service, member.number);
        return relabelled({ ...member, weight: weights[name] ?? member.weight }, tracks[name]);
      });
      this.#fleet = { ...this.#fleet, [service]: members };
      this.#onChange();
      await this.#routing.announce();
    });
  }

  /** Replaces one replica by the same one of another release, as `restart` does. It goes on where that does not get ready. */
  async replace(service: string, name: string, release: Release | undefined, signal: AbortSignal): Promise<void> {
    await this.#exclusively(async () => {
      const before = this.#wanted();
      const members = this.#membersOf(service).map((member): FleetMember => {
        if (instanceName(service, member.number) !== name) return member;
        const { release: _, startedAs: __, ...same } = member;
        return { ...same, ...(release && { release }) };
      });
      await this.#want({ ...before, fleet: { ...before.fleet, [service]: members } });
      try {
        await this.#admitPlanned([service]);
        await this.#replaceAsPlanned(name, this.#limit(signal));
      } catch (error) {
        await this.#want(before);
        throw error;
      }
    });
  }

  async #replaceAsPlanned(name: string, limit: AbortSignal): Promise<void> {
    const unit = this.#plan?.units.find((one) => one.name === name);
    const instance = this.#instances.get(name);
    if (unit === undefined || instance === undefined) throw unknownService(name, [...this.#instances.keys()]);
    const { successions, others } = splitSuccessions([instance], new Map([[name, unit]]));
    await this.#announceLeaving(others);
    await Promise.all(others.map((one) => one.stop()));
    for (const _ of others) {
      const started = this.#instanceAs(unit);
      started.start();
      await this.#ready(started, limit);
    }
    await this.#handOverAll(successions, () => 'another release is deployed', limit);
  }

  /** Removes replicas once their requests have ended; `limitMs`: they get no more time for that. */
  async unstage(service: string, names: readonly string[], limitMs?: number): Promise<void> {
    await this.#exclusively(async () => {
      const present = names.filter((name) => this.#instances.has(name));
      await this.#leave(present.filter((name) => !this.#isHeld(name)));
      // What a held one has in flight names its track: it ends with that, and its callers turn to others meanwhile.
      for (const name of present) this.#routing.leave(name);
      await Promise.all([this.#routing.publish(), this.#stop(present, limitMs)]);
      const units = present.map((name) => (this.#instances.get(name) as Instance).unit);
      const before = this.#wanted();
      const members = this.#membersOf(service).filter(({ number }) => !names.includes(instanceName(service, number)));
      await this.#want({ ...before, fleet: { ...before.fleet, [service]: members } });
      await Promise.all(units.map((unit) => this.#forget(unit)));
    });
  }

  /** Records what a service runs from now on, also after a start of the platform. */
  async adopt(service: string, release: Release | undefined): Promise<void> {
    await this.#exclusively(async () => {
      const { [service]: _, ...others } = this.#overrides.releases;
      const overrides = { ...this.#overrides, releases: release ? { ...others, [service]: release } : others };
      await this.#saveOverrides(overrides);
      this.#overrides = overrides;
      this.#onChange();
    });
  }

  #isHeld(name: string): boolean {
    return this.#routing.stateOf(name)?.weight === 0;
  }

  async #leave(names: readonly string[]): Promise<void> {
    for (const name of names) this.#routing.leave(name);
    await this.#routing.announce();
  }

  #drainSteps(name: string, undo: boolean): readonly RunnableStep[] {
    const replicas = [...this.#instances.values()].filter(({ unit }) => unit.kind === 'service');
    const instance = replicas.find(({ unit }) => unit.name === name);
    if (!instance)
      throw unknownService(
        name,
        replicas.map(({ unit }) => unit.name),
      );
    const isDraining = this.#overrides.draining.includes(name);
    if (isDraining !== undo) return [];
    if (!undo) this.#checkDrain(instance);
    const others = this.#overrides.draining.filter((other) => other !== name);
    return this.#routeSteps({
      overrides: { ...this.#overrides, draining: undo ? others : [...others, name].toSorted() },
      target: name,
      recorded: `record that ${name} is ${undo ? 'not drained any more' : 'drained'}`,
      announced: undo ? `announce that ${name} takes work again` : `announce that ${name} takes no new work`,
    });
  }

  /** Throws CliError (2) where draining would have no effect, or leave none: callers use any replica rather than none. */
  #checkDrain({ unit }: Instance): void {
    if (this.#routing.stateOf(unit.name) === undefined) {
      throw new CliError({
        code: 'invalid_drain',
        what: `${unit.name} cannot be drained`,
        why: `clients of ${unit.service} know its port alone, and no announcement reaches them`,
        next: `"shopctl stop ${unit.name}" has it finish its requests, while other replicas serve the port`,
      });
    }
    const others = [...this.#instances.values()].filter((one) => one.unit.service === unit.service);
    const serves = others.some((one) => one.unit.name !== unit.name && one.status === 'ready' && this.#isCalled(one));
    if (serves) return;
    throw new CliError({
      code: 'invalid_drain',
      what: `${unit.name} cannot be drained`,
      why: `no other replica of ${unit.service} is ready and takes work`,
      next: `add one with "shopctl scale ${unit.service}=${others.length + 1}"`,
    });
  }

  #rerouteSteps(edge: string, via: 'primary' | 'standby'): readonly RunnableStep[] {
    const known = this.#routing.edges();
    if (!known.includes(edge)) {
      throw new CliError({
        code: 'unknown_edge',
        what: `there is no edge "${edge}"`,
        next: `known here: ${known.join(', ')}`,
      });
    }
    if (this.#plan?.direct) {
      throw new CliError({
        code: 'invalid_reroute',
        what: `${edge} has one way only`,
        why: 'the services are wired directly',
        next: 'run "shopctl up --no-direct", which puts a proxy on each edge',
      });
    }
    if (this.#overrides.onStandby.includes(edge) === (via === 'standby')) return [];
    const others = this.#overrides.onStandby.filter((other) => other !== edge);
    return this.#routeSteps({
      overrides: { ...this.#overrides, onStandby: via === 'standby' ? [...others, edge].toSorted() : others },
      target: edge,
      recorded: `record that ${edge} goes by ${via}`,
      announced: `point the callers of ${edge} at ${via === 'standby' ? 'the target, past the proxy' : 'the proxy'}`,
    });
  }

  #routeSteps({ overrides, target, recorded, announced }: RouteChange): readonly RunnableStep[] {
    return [
      {
        action: 'record',
        targets: [target],
        text: recorded,
        run: async () => {
          await this.#saveOverrides(overrides);
          this.#overrides = overrides;
          this.#onChange();
        },
      },
      { action: 'announce', targets: [target], text: announced, run: () => this.#routing.announce() },
    ];
  }

  /** Of the conditions under which instances of this name start from now on, those of `change`; what runs goes on as it is. */
  changeConditions(name: string, change: StartConditions): void {
    for (const instance of this.#find(name)) {
      instance.conditions = { ...instance.conditions, ...change };
      this.#conditions.set(instance.unit.name, instance.conditions);
    }
  }

  /** Stops and starts what is kept running, and resolves when that has begun: it is not waited for. */
  async relaunch(name: string): Promise<void> {
    const chosen = this.#find(name);
    await this.#exclusively(async () => {
      const kept = chosen.filter(({ isDesired }) => isDesired);
      await Promise.all(kept.map((instance) => instance.stop()));
      for (const instance of kept) instance.start();
    });
  }

  /**
   * Before anything is started or ended: throws CliError (`release_too_old`) where a release cannot run on its database; of a
   * service by its name, what the clone has.
   */
  async admit(starting: readonly (string | StartingRelease)[]): Promise<void> {
    await this.#planner.admit?.(starting);
  }

  /** What these services are to consist of. */
  async #admitPlanned(services: readonly string[]): Promise<void> {
    const members = [...new Set(services)].flatMap((service) =>
      this.#membersOf(service).map(({ release }) =>
        release === undefined ? service : { service, version: release.version, where: release.folder },
      ),
    );
    await this.admit(members);
  }

  /** Instances of services as they would be planned now: their code may have been rebuilt. */
  async #asBuilt(instances: readonly Instance[]): Promise<ReadonlyMap<string, Unit>> {
    const services = new Set(servicesOf(instances));
    if (services.size === 0 || this.#plan === undefined) return new Map();
    const { units } = await this.#planAgain(this.#plan, services);
    return new Map(units.map((unit) => [unit.name, unit]));
  }

  /** Services that have an instance. */
  #running(): readonly string[] {
    return servicesOf([...this.#instances.values()]);
  }

  /** These services as they would be planned now, with what was asked for when `plan` was made. */
  #planAgain(plan: Plan, services: ReadonlySet<string>, wanted: Wanted = this.#wanted()): Promise<Plan> {
    const { direct, runtime, instrumentation, alerts = false, seededBugs = [], inspect = {} } = plan;
    return this.#planner.plan({
      services: [...services],
      running: this.#running(),
      replicas: wanted.replicas,
      fleet: this.#fleetOf(wanted),
      direct,
      runtime,
      instrumentation,
      alerts,
      providers: {},
      seededBugs,
      inspect: Object.fromEntries(Object.entries(inspect).filter(([service]) => services.has(service))),
    });
  }

  /**
   * One round after the other. Between two of them the callers find again what was replaced, and it must still be ready:
   * otherwise the remaining instances go on as they are.
   */
  async #inRounds(
    rounds: readonly (readonly Instance[])[],
    replace: (round: readonly Instance[]) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void> {
    const replaced: string[] = [];
    for (const [index, round] of rounds.entries()) {
      if (index > 0) {
        await delay(this.#limits.betweenRoundsMs, undefined, signal && { signal }).catch((error: unknown) => {
          // Its reason, which says who ended it.
          signal?.throwIfAborted();
          throw error;
        });
      }
      for (const name of replaced) await this.#assertReady(name);
      await replace(round);
      await this.#routing.settle();
      replaced.push(...round.map(({ unit }) => unit.name));
    }
  }

  async #assertReady(name: string): Promise<void> {
    const instance = this.#instances.get(name);
    if (instance === undefined || instance.unit.inspector !== undefined) return;
    if (instance.status !== 'ready') throw await instance.failure();
  }

  #find(name: string): readonly Instance[] {
    const all = [...this.#instances.values()];
    const chosen = all.filter(({ unit }) => unit.service === name || unit.name === name);
    if (chosen.length > 0) return chosen;
    throw unknownService(name, [...new Set(all.map(({ unit }) => unit.service))]);
  }

  #checkNames({ services, replicas }: UpRequest): void {
    for (const name of [...services, ...Object.keys(replicas)]) {
      if (!this.#planner.serviceNames.includes(name)) throw unknownService(name, this.#planner.serviceNames);
    }
  }

  async #up(request: UpRequest, signal: AbortSignal): Promise<UpResult> {
    const began = performance.now();
    const abortUp = new AbortController();
    this.#abortUp = abortUp;
    const gone = AbortSignal.any([signal, abortUp.signal]);
    const started: string[] = [];
    const replaced = new Set<string>();
    try {
      const replicas = { ...this.#replicas, ...request.replicas };
      const plan = await this.#planner.plan({
        ...request,
        running: this.#running(),
        replicas,
        fleet: this.#fleetOf({ overrides: this.#overrides, replicas, fleet: this.#resized(replicas) }),
        direct: request.direct ?? this.#wantsDirect,
        runtime: request.runtime ?? this.#wantedRuntime,
        instrumentation: request.instrumentation ?? this.#wantedInstrumentation,
        alerts: request.alerts ?? this.#wantsAlerts,
      });
      // First of all: new code may need the new schema. What is refused is not wanted by a later command either.
      const applied = await this.#refresh(plan);
      // PostgreSQL may not serve now, and then nothing was asked.
      await this.#admitPlanned(plan.units.filter(({ kind }) => kind === 'service').map(({ service }) => service));
      this.#fleet = this.#resized(replicas);
      this.#replicas = replicas;
      this.#wantsDirect = request.direct ?? this.#wantsDirect;
      this.#wantedRuntime = plan.runtime;
      this.#wantedInstrumentation = plan.instrumentation;
      this.#wantsAlerts = plan.alerts ?? false;
      const isPartial = request.services.length > 0;
      this.#plan = merge(this.#plan, plan, isPartial);
      this.#routing.plan(plan.routes, ({ instance = '' }) => isPartial || this.#instances.has(instance));
      for (const warning of plan.warnings) this.#events.add('up.warning', 'platform', warning);
      const { changedSettings = [] } = plan;
      if (changedSettings.length > 0)
        this.#events.add('up.settings', 'platform', `changed: ${changedSettings.map(({ name }) => name).join(', ')}`);
      this.#report = [];
      this.#hideAdded(plan);
      await this.#removeUnplanned(plan, isPartial);
      await this.#routing.publish();
      const limits = { began, gone, started, limitMs: request.waitTimeoutMs };
      const rounds = roundsOf(this.#outdated(plan));
      if (rounds.length === 0) await this.#startAll(plan.units, limits);
      const units = new Map(plan.units.map((unit) => [unit.name, unit]));
      const replace = async (round: readonly Instance[]) => {
        for (const { unit } of round) replaced.add(unit.name);
        const { successions, others } = splitSuccessions(round, units);
        await this.#retire(others, plan);
        // What goes on until its successor is ready may not be ready itself.
        const succeeded = new Set(successions.map(({ unit }) => unit.name));
        await this.#startAll(
          plan.units.filter(({ name }) => !succeeded.has(name)),
          limits,
        );
        await this.#handOverAll(
          successions,
          ({ instance, unit }) => restartReason(instance.unit, unit, true),
          AbortSignal.any([gone, limitOf(plan.units, request.waitTimeoutMs)]),
          started,
        );
      };
      await this.#inRounds(rounds, replace, gone);
      // A client may rely on each replica once this command has ended.
      await this.#routing.announce();
      return { started, applied, tookMs: performance.now() - began };
    } catch (error) {
      // No command waits any more: an interrupted start leaves nothing, and what ran before runs on. A late one stays, so that
      // it can be looked at.
      if (gone.aborted) {
        await this.#stop(started.filter((name) => !replaced.has(name)));
        for (const name of replaced) this.#instances.get(name)?.start();
      }
      throw error;
    } finally {
      this.#abortUp = undefined;
      this.#onChange();
    }
  }

  /** Applies to components that run already what changed since they were set up. */
  async #refresh(plan: Plan): Promise<readonly string[]> {
    const applied: string[] = [];
    for (const unit of plan.units) {
      const running = this.#instances.get(unit.name);
      if (running?.status !== 'ready' || running.unit.fingerprint !== unit.fingerprint) continue;
      for (const what of (await unit.refresh?.().catch((error) => refused(unit.name, error))) ?? []) {
        this.#events.add('instance.refreshed', unit.name, `applied ${what}`);
        applied.push(what);
      }
    }
    return applied;
  }

  async #removeUnplanned(plan: Plan, isPartial: boolean): Promise<void> {
    const planned = new Set(plan.units.map(({ name }) => name));
    const unplanned = [...this.#instances.values()].filter(({ unit }) => !planned.has(unit.name));
    await this.#retire(isPartial ? unplanned.filter(({ unit }) => unit.isExtra) : unplanned, plan);
  }

  /** Instances that are no longer what the plan says. */
  #outdated(plan: Plan): readonly Instance[] {
    const planned = new Map(plan.units.map((unit) => [unit.name, unit]));
    return [...this.#instances.values()].filter(({ unit }) => {
      const now = planned.get(unit.name);
      return now !== undefined && now.fingerprint !== unit.fingerprint;
    });
  }

  /** Stops instances that are replaced, or are not planned any more. */
  async #retire(retired: readonly Instance[], plan: Plan): Promise<void> {
    const planned = new Map(plan.units.map((unit) => [unit.name, unit]));
    const staying = [...this.#instances.values()].filter((one) => !retired.includes(one) && one.status === 'ready');
    const served = new Set(staying.map(serviceOf));
    for (const { unit } of retired) {
      const now = planned.get(unit.name);
      const why = now ? restartReason(unit, now, served.has(unit.service)) : 'not wanted any more';
      this.#events.add('instance.retired', unit.name, why);
    }
    await this.#announceLeaving(retired);
    await this.#stop(retired.map(({ unit }) => unit.name));
    for (const { unit } of retired) {
      const now = planned.get(unit.name);
      if (now) this.#instanceAs(now);
      else await this.#forget(unit);
    }
  }

  /** Callers turn to other replicas of these services, where there are any, before these end. */
  async #announceLeaving(ending: readonly Instance[]): Promise<void> {
    const served = new Set(
      [...this.#instances.values()]
        .filter((one) => !ending.includes(one) && one.status === 'ready' && this.#isCalled(one))
        .map(serviceOf),
    );
    for (const { unit } of ending) if (served.has(unit.service)) this.#routing.leave(unit.name);
    if (ending.length > 0) await this.#routing.announce();
  }

  #isCalled({ unit }: Instance): boolean {
    return this.#routing.stateOf(unit.name)?.state === 'active';
  }

  /** It is stopped and not wanted any more. */
  async #forget(unit: Unit): Promise<void> {
    this.#instances.delete(unit.name);
    this.#routing.remove(unit.name);
    await this.#routing.publish();
    await unit.dispose?.().catch((error) => this.#events.add('up.warning', unit.name, messageOf(error)));
  }

  /** Callers learn of a replica that is added to others, and of proxies that are added, once it is ready. */
  #hideAdded(plan: Plan): void {
    const running = new Set([...this.#instances.values()].map(serviceOf));
    for (const { name, kind, service } of plan.units) {
      const joins = kind === 'service' ? running.has(service) : running.size > 0;
      if (joins && !this.#instances.has(name)) this.#routing.join(name);
    }
  }

  async #startAll(
    units: readonly Unit[],
    { began, gone, started, limitMs }: { began: number; gone: AbortSignal; started: string[]; limitMs: number },
  ): Promise<void> {
    const limit = limitOf(units, limitMs);
    const failed = new AbortController();
    const over = AbortSignal.any([gone, limit, failed.signal]);
    const ready = new Map<string, Promise<void>>();
    const bringUp = async (unit: Unit) => {
      await Promise.all(unit.waitsFor.map((name) => ready.get(name)));
      over.throwIfAborted();
      const instance = this.#instanceOf(unit);
      const wasKept = instance.isDesired;
      const beganMs = performance.now() - began;
      if (!wasKept || instance.status === 'failed') {
        started.push(unit.name);
        instance.start();
      }
      await this.#ready(instance, over);
      if (!wasKept) {
        this.#report.push({ name: unit.name, beganMs, readyMs: performance.now() - began, waitedFor: unit.waitsFor });
      }
    };
    const pending = (unit: Unit): Promise<void> => {
      const known = ready.get(unit.name);
      if (known) return known;
      for (const name of unit.waitsFor) {
        const waited = units.find((other) => other.name === name);
        if (waited) pending(waited);
      }
      const promise = bringUp(unit);
      ready.set(unit.name, promise);
      return promise;
    };
    const all = units.map(pending);
    try {
      await Promise.all(all);
    } catch (error) {
      failed.abort(error);
      await Promise.allSettled(all);
      gone.throwIfAborted();
      throw limit.aborted ? await this.#lateness(units, limitMs) : error;
    }
  }

  /** The instance of this name, whatever it was planned as. */
  #instanceOf(unit: Unit): Instance {
    return this.#instances.get(unit.name) ?? this.#create(unit, undefined);
  }

  /** The instance as planned; one of another plan has been stopped, and goes on in its account. */
  #instanceAs(unit: Unit): Instance {
    const known = this.#instances.get(unit.name);
    return known?.unit.fingerprint === unit.fingerprint ? known : this.#create(unit, known?.snapshot());
  }

  /** Hands over concurrently; `done` gets the names. All are tried, and the first failure is thrown at the end. */
  async #handOverAll(
    successions: readonly Succession[],
    why: (succession: Succession) => string,
    signal: AbortSignal,
    done: string[] = [],
  ): Promise<void> {
    const results = await Promise.allSettled(
      successions.map(async (succession) => {
        await this.#handOver(succession, why(succession), signal);
        done.push(succession.unit.name);
      }),
    );
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  /** Ends an instance once its successor, which runs beside it, is ready; it goes on where that does not get ready. */
  async #handOver({ instance, unit }: Succession, why: string, signal: AbortSignal): Promise<void> {
    const successor = this.#prepared(unit, instance.snapshot());
    try {
      successor.start();
      await this.#ready(successor, signal);
      await this.#announceLeaving([instance]);
    } catch (error) {
      await successor.stop();
      throw notReplaced(unit.name, error);
    }
    this.#instances.set(unit.name, successor);
    this.#events.add('instance.retired', unit.name, `${why}; another process serves, it finishes requests in flight`);
    await instance.stop(undefined, SUCCESSOR_SERVES);
  }

  #create(unit: Unit, replaced: InstanceState | undefined): Instance {
    const instance = this.#prepared(unit, replaced);
    this.#instances.set(unit.name, instance);
    return instance;
  }

  /** Not known by its name yet. */
  #prepared(unit: Unit, replaced: InstanceState | undefined): Instance {
    const instance: Instance = new Instance(
      unit,
      (event, message) => {
        // Of two processes beside each other the one that stays is meant by the name.
        if (event === 'stopped' && this.#instances.get(unit.name) !== instance) return;
        this.#events.add(`instance.${event}`, unit.name, message);
        if (event === 'ready' && this.#routing.hasBeenReady(unit.name)) this.#publishSoon();
        this.#onChange();
      },
      this.#limits,
      replaced,
    );
    instance.conditions = this.#conditions.get(unit.name) ?? {};
    return instance;
  }

  /** Readiness, or the error that names this instance. */
  async #ready(instance: Instance, signal: AbortSignal): Promise<void> {
    try {
      await instance.whenReady(signal);
    } catch (error) {
      if ((error as Error).name === 'TimeoutError') throw await instance.failure();
      throw error;
    }
  }

  /** The error of a start that took too long. The culprit is what others wait for, else whatever is not ready. */
  async #lateness(units: readonly Unit[], limitMs: number): Promise<CliError> {
    const late = units.filter((unit) => this.#instances.get(unit.name)?.status !== 'ready');
    const begun = late.filter((unit) => this.#instances.has(unit.name));
    const culprit = begun.find((unit) => begun.some((other) => other.dependsOn.includes(unit.name))) ?? begun[0];
    const instance = culprit && this.#instances.get(culprit.name);
    if (!instance) return new CliError({ code: 'not_ready_in_time', what: `not ready in ${limitMs / 1000} s` });
    const { why, next } = await instance.failure();
    const others = late.filter((unit) => unit !== culprit).map((unit) => unit.name);
    return new CliError({
      code: 'not_ready_in_time',
      what: `${culprit.name} is not ready after ${limitMs / 1000} s`,
      why: others.length > 0 ? `${why}\nalso not ready: ${others.join(', ')}` : (why ?? ''),
      next: `${next}; what runs goes on running ("shopctl down" stops it)`,
    });
  }

  /** Stops instances in dependency order. Every one is tried; the first failure is thrown at the end. */
  async #stop(names: readonly string[], timeoutMs?: number): Promise<void> {
    const chosen = names.map((name) => this.#instances.get(name)).filter((instance) => instance !== undefined);
    const nodes = chosen.map((instance) => ({
      name: instance.unit.name,
      // Dependencies name services; what is stopped are their instances.
      dependsOn: chosen
        .filter(({ unit }) => instance.unit.dependsOn.includes(unit.service))
        .map(({ unit }) => unit.name),
    }));
    const problems: unknown[] = [];
    for (const group of stopOrder(nodes)) {
      const results = await Promise.allSettled(group.map(({ name }) => this.#instances.get(name)?.stop(timeoutMs)));
      for (const result of results) if (result.status === 'rejected') problems.push(result.reason);
    }
    if (problems.length > 0) {
      throw new CliError({
        code: 'stop_incomplete',
        what: 'something could not be stopped',
        why: problems.map(messageOf).join('\n'),
        next: 'see what still runs with "shopctl status", then repeat "shopctl down"',
      });
    }
  }

  /** Without a command that waits for it: a failure becomes an event. */
  #publishSoon(): void {
    this.#routing
      .publish()
      .catch((error) =>
        this.#events.add('up.warning', 'platform', `the upstreams were not written: ${messageOf(error)}`),
      );
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#current.then(work).finally(() => this.#routing.settle());
    // The next one begins whether this one succeeded or not; its failure is reported to its caller.
    this.#current = result.catch(() => {});
    return result;
  }
}

/** What was asked for. */
interface Wanted {
  readonly overrides: Overrides;
  readonly replicas: Readonly<Record<string, number>>;
  readonly fleet?: Fleet;
}

/** A replica that is added without any work. */
export type StagedMember = Pick<FleetMember, 'release' | 'track' | 'isPrivate'>;

export interface NamedMember extends FleetMember {
  readonly name: string;
}

/** A step, and its work. */
interface RunnableStep extends OperationStep {
  run(): Promise<void>;
}

/** A change that is nothing but an announcement to callers. */
interface RouteChange {
  readonly overrides: Overrides;
  readonly target: string;
  readonly recorded: string;
  readonly announced: string;
}

/** The step, where it concerns anything. */
function only(
  targets: readonly string[],
  action: OperationStep['action'],
  text: (names: string) => string,
  run: () => Promise<void>,
): readonly RunnableStep[] {
  return targets.length === 0 ? [] : [{ action, targets, text: text(listed(targets)), run }];
}

/** `a`, `a and b`, `a, b and c`. */
function listed(names: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(names);
}

/** The services of these instances, without components. */
function servicesOf(instances: readonly Instance[]): readonly string[] {
  return [...new Set(instances.filter(({ unit }) => unit.kind === 'service').map(serviceOf))];
}

function serviceOf({ unit }: Instance): string {
  return unit.service;
}

/**
 * Instances in the rounds in which they are replaced: the n-th replica of each service in the n-th round, so that the others
 * serve meanwhile. What does not serve now is replaced in the first one.
 */
function roundsOf(instances: readonly Instance[]): readonly (readonly Instance[])[] {
  const rounds: Instance[][] = [];
  for (const group of Map.groupBy(instances, serviceOf).values()) {
    const serving = group.filter(({ status }) => status === 'ready');
    const others = group.filter((instance) => !serving.includes(instance));
    const first = [...others, ...serving.slice(0, 1)];
    for (const [index, round] of [first, ...serving.slice(1).map((one) => [one])].entries()) {
      rounds[index] = [...(rounds[index] ?? []), ...round];
    }
  }
  return rounds;
}

/** What waits for a debugger, or is paused by one, keeps others from being ready, for as long as its user likes. */
function limitOf(units: readonly Unit[], limitMs: number): AbortSignal {
  const isInspected = units.some(({ inspector }) => inspector !== undefined);
  return isInspected ? new AbortController().signal : AbortSignal.timeout(limitMs);
}

/**
 * Requests in flight get their response before it ends; where no other instance serves meanwhile, new ones get none.
 */
function restartReason(before: Unit, now: Unit, isServedByOthers: boolean): string {
  const why = `its ${before.code === now.code ? 'configuration' : 'code'} changed: restarting it`;
  return isServedByOthers
    ? why
    : `${why}; it finishes requests in flight, and refuses connections until it is ready again`;
}

/** What changed stays undone, and with it what may depend on it. */
function refused(name: string, cause: unknown): never {
  if (cause instanceof CliError) throw cause;
  throw new CliError({
    code: 'change_refused',
    what: `${name} refuses what changed`,
    why: messageOf(cause),
    next: 'correct it and repeat the command; everything goes on running as it was',
    cause,
  });
}

/** A partial plan adds to what runs; a full one replaces it. */
function merge(before: Plan | undefined, now: Plan, isPartial: boolean): Plan {
  if (!before || !isPartial) return now;
  const kept = before.edges.filter((edge) => !now.edges.some(({ name }) => name === edge.name));
  return { ...now, edges: [...kept, ...now.edges], gatewayUrl: now.gatewayUrl || before.gatewayUrl };
}
