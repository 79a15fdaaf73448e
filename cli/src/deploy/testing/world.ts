import { expect } from 'vitest';
import type { FleetMember } from '../../platform/fleet.ts';
import type { NamedMember } from '../../platform/platform.ts';
import type { Release } from '../../platform/release.ts';
import type { FleetControl } from '../../platform/supervisor-extension.ts';
import type { RunClock } from '../../shared/clock.ts';
import type { Evidence } from '../analysis/evidence.ts';
import type { GuardReading } from '../analysis/guards.ts';
import type { CanaryPlan } from '../analysis/plan.ts';
import { DeployEngine, type DeployPlan, type EngineDeps } from '../engine.ts';
import type { DeployJournal } from '../journal.ts';
import type { CanaryObserver } from '../observe/seen.ts';
import type { CanaryTerms, DeployRun, JournalRecord } from '../run.ts';
import type { Sample, SampleFiles } from '../samples.ts';

const release = (version: string): Release => ({
  version,
  folder: version,
  digest: version,
  seededBugs: [],
  env: {},
});
const OLD = release('1.0.0');
export const NEW = release('1.1.0');
const SERVICE = 'orders';

/** What is on disk: it outlives a process. */
export interface Disk {
  readonly records: JournalRecord[];
  recorded: Release | undefined;
  readonly samples: { readonly run: string; readonly sample: Sample }[];
}

/** The end of the process: nothing after it happens. */
export class Killed extends Error {}

/** Outcomes of one look. */
export interface Traffic {
  readonly canary?: Partial<Evidence>;
  readonly stable?: Partial<Evidence>;
  readonly guards?: readonly GuardReading[];
  readonly missing?: readonly string[];
}

export interface World {
  readonly disk: Disk;
  members: NamedMember[];
  /** Steps so far, of the fleet and of the journal. */
  steps: number;
  killAt: number;
  /** ms; sleeping takes time. */
  now: number;
  /** What clients of the canary and of the others meet in a look, given the canary's share. */
  traffic(share: number, now: number): Traffic;
  readonly log: string[];
}

export function aWorld(replicas = 2): World {
  const members = Array.from({ length: replicas }, (_, index) => member(index + 1, undefined));
  return {
    disk: { records: [], recorded: undefined, samples: [] },
    members,
    steps: 0,
    killAt: Infinity,
    now: 0,
    traffic: () => ({}),
    log: [],
  };
}

export function member(number: number, own: Release | undefined, weight = 100): NamedMember {
  return { name: `${SERVICE}-${number}`, number, track: 'stable', weight, ...(own && { release: own }) };
}

/** A step of the process; a process that was killed never comes to the next one. */
async function step(world: World, what: string): Promise<void> {
  world.steps += 1;
  if (world.steps >= world.killAt) throw new Killed();
  world.log.push(what);
}

export function fleetOf(world: World): FleetControl {
  return {
    admit: async () => {},
    fleetOf: () => world.members,
    releaseOf: () => world.disk.recorded,
    async stage(_service, count, like, signal) {
      await step(world, 'stage');
      signal.throwIfAborted();
      const first = Math.max(...world.members.map(({ number }) => number)) + 1;
      const added = Array.from({ length: count }, (_, index): NamedMember => {
        const number = first + index;
        return { name: `${SERVICE}-${number}`, ...(like as FleetMember), number, weight: 0 };
      });
      world.members = [...world.members, ...added];
      return added.map(({ name }) => name);
    },
    async weigh(_service, weights, tracks = {}) {
      await step(world, 'weigh');
      // Callers read it a moment later.
      world.now += 10;
      world.members = world.members.map((one) => ({
        ...one,
        weight: weights[one.name] ?? one.weight,
        track: tracks[one.name] ?? one.track,
      }));
    },
    async replace(_service, name, own, signal) {
      await step(world, `replace ${name}`);
      signal.throwIfAborted();
      world.members = world.members.map((one) => (one.name === name ? member(one.number, own, one.weight) : one));
    },
    async unstage(_service, names) {
      await step(world, 'unstage');
      world.members = world.members.filter(({ name }) => !names.includes(name));
    },
    async adopt(_service, own) {
      await step(world, 'adopt');
      world.disk.recorded = own;
    },
  };
}

function journalOf(world: World): DeployJournal {
  return {
    async append(...records) {
      await step(world, records.map((one) => (one.kind === 'state' ? one.state : one.kind)).join());
      world.disk.records.push(...records);
    },
    read: async () => world.disk.records,
  };
}

export function exitGuard(state: GuardReading['state'], at: number): GuardReading {
  return { guard: 'exit', at, state, detail: 'orders-3' };
}

/** 80 requests in each look, which are all good where the world says nothing else. */
function observerOf(world: World): CanaryObserver {
  return {
    begin: async () => undefined,
    start: async () => undefined,
    arms: () => undefined,
    stop: () => undefined,
    async look(at) {
      const share = shareOf(world);
      const { canary, stable, guards = [exitGuard('held', at)], missing = [] } = world.traffic(share, at);
      const line = { at, share, requests: 40, bad: 0, slow: 0 };
      return {
        evidence: [
          { ...line, arm: 'canary', requests: Math.round(80 * share), ...canary },
          { ...line, arm: 'stable', requests: Math.round(80 * (1 - share)), ...stable },
        ],
        guards,
        missing,
      };
    },
  };
}

/** The part of the calls that the canary is drawn for. */
export function shareOf({ members }: World): number {
  const sum = (some: readonly NamedMember[]) => some.reduce((total, { weight }) => total + weight, 0);
  return sum(members.filter(({ track }) => track === 'canary')) / sum(members);
}

function samplesOf(world: World): SampleFiles {
  return {
    async append(run, sample) {
      await step(world, 'sample');
      // So does a look.
      world.now += 1;
      world.disk.samples.push({ run, sample });
    },
    read: async (run) => world.disk.samples.filter((one) => one.run === run).map(({ sample }) => sample),
  };
}

const thePlan: CanaryPlan = {
  service: SERVICE,
  baseline: 'fresh',
  steps: [
    { share: 0.05, requests: 10, forMs: 2_000 },
    { share: 0.5, requests: 60, forMs: 2_000 },
  ],
  limitMs: 60_000,
  errors: { alpha: 0.008, tolerate: 1 },
  slow: { alpha: 0.002, tolerate: 1.25, above: 0.95, warmUp: 20 },
  margin: 0.1,
  guards: ['exit'],
};

export const theTerms: CanaryTerms = { plan: thePlan, onInconclusive: 'rollback', onFailure: 'rollback' };

export function anEngine(world: World, changes: Partial<EngineDeps> = {}): DeployEngine {
  return new DeployEngine({
    fleet: fleetOf(world),
    journal: journalOf(world),
    guards: { begin: async () => undefined, check: async () => undefined, conclude: async () => undefined },
    stable: async () => ({ kept: OLD, restored: async () => world.disk.recorded }),
    preflight: async () => 'five orders',
    async retire(_subject, end) {
      await end();
      return 'none lost';
    },
    compare: async () => '20 messages',
    onChange: () => undefined,
    onProblem: () => undefined,
    canary: { observe: () => observerOf(world), samples: samplesOf(world) },
    clock: clockOf(world),
    ...changes,
  });
}

/** Sleeps end in a later turn where requests are to be served meanwhile. */
export function clockOf(world: World, turn: () => Promise<void> = async () => undefined): RunClock {
  return {
    now: () => world.now,
    date: () => new Date(world.now),
    async sleep(ms, signal) {
      await turn();
      signal.throwIfAborted();
      world.now += ms;
    },
  };
}

export const aPlan = (changes: Partial<DeployPlan> = {}): DeployPlan => ({
  service: SERVICE,
  strategy: 'rolling',
  source: 'HEAD',
  version: NEW.version,
  keepMs: 500,
  asked: { by: { user: 'anna', source: 'command line' } },
  isPublic: false,
  build: async () => NEW,
  ...changes,
});

/** Waits for the end of the deploy that was begun. */
export async function ended(engine: DeployEngine): Promise<DeployRun> {
  await expect.poll(() => engine.current, { interval: 1 }).toBeUndefined();
  return engine.runs().at(-1) as DeployRun;
}

export async function deploy(engine: DeployEngine, plan = aPlan()): Promise<DeployRun> {
  await engine.start(plan);
  return ended(engine);
}

/** What serves, by release: every call reaches one of these. */
export const serving = ({ members }: World) =>
  members.filter(({ weight }) => weight > 0).map(({ release: own }) => own?.version ?? 'built');
