/**
 * Goal: wherever a deploy is killed or rolled back, its service has one release, and the journal says which.
 * Method: the engine on a fake fleet that can be killed before any of its steps; a second engine reads the same journal.
 */
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { CliError } from '../errors.ts';
import type { FleetControl } from '../platform/supervisor-extension.ts';
import type { DeployEngine, DeployPlan, EngineDeps } from './engine.ts';
import { type DeployRun, isOver, transitions } from './run.ts';
import {
  anEngine,
  aPlan,
  aWorld,
  clockOf,
  deploy,
  ended,
  exitGuard,
  fleetOf,
  Killed,
  member,
  NEW,
  serving,
  theTerms,
  type World,
} from './testing/world.ts';
import { tripped, unobserved } from './trip.ts';

let world: World;
beforeEach(() => {
  world = aWorld();
});

describe.each(['rolling', 'blue-green', 'canary'] as const)('a %s deploy', (strategy) => {
  const terms = strategy === 'canary' ? { canary: theTerms } : {};
  const plan = (changes: Partial<DeployPlan> = {}) => aPlan({ strategy, ...terms, ...changes });

  it('has all replicas run the release, and records it at its end', async () => {
    expect(await deploy(anEngine(world), plan())).toMatchObject({ state: 'done', from: '1.0.0', to: '1.1.0' });
    expect(serving(world)).toEqual(['1.1.0', '1.1.0']);
    expect(world.members).toHaveLength(2);
    expect(world.disk.recorded).toEqual(NEW);
  });

  it.each([
    ['cannot be built', { build: () => Promise.reject(new Error('line 7')) }, {}, 'failed'],
    [
      'is not good in its preflight',
      {},
      { preflight: () => Promise.reject(tripped('preflight', '503')) },
      'rolled-back',
    ],
    ['has no trace', {}, { preflight: () => Promise.reject(unobserved('telemetry is off')) }, 'inconclusive'],
  ] as const)('that %s changes nothing that serves', async (_what, plans, deps, state) => {
    expect(await deploy(anEngine(world, deps), plan(plans))).toMatchObject({ state, isDirty: false });
    expect(serving(world)).toEqual(['built', 'built']);
    expect(world.members).toHaveLength(2);
    expect(world.disk.recorded).toBeUndefined();
  });

  it.each(['shifting', 'kept'])('is rolled back where a guard trips while it is %s', async (state) => {
    let isBad = false;
    const check = async () => {
      if (isBad) throw tripped('exit', 'orders-1 ended');
    };
    const onChange = (run: DeployRun) => {
      isBad ||= run.state === state;
    };
    const guards = { begin: async () => undefined, check, conclude: async () => undefined };
    world.traffic = (_share, at) => ({ guards: [exitGuard(isBad ? 'tripped' : 'held', at)] });
    expect(await deploy(anEngine(world, { guards, onChange }), plan())).toMatchObject({
      state: 'rolled-back',
      cause: { guard: 'exit' },
    });
    expect(serving(world)).toEqual(['built', 'built']);
    expect(world.members).toHaveLength(2);
  });

  it('whose evidence is missing at its end is never done', async () => {
    const conclude = () => Promise.reject(unobserved('dead letters are unknown'));
    const guards = { begin: async () => undefined, check: async () => undefined, conclude };
    expect(await deploy(anEngine(world, { guards }), plan())).toMatchObject({ state: 'inconclusive' });
    expect(serving(world)).toEqual(['built', 'built']);
  });

  it('that cannot be rolled back says so', async () => {
    const fleet = { ...fleetOf(world), unstage: () => Promise.reject(new Error('it does not end')) };
    const preflight = () => Promise.reject(tripped('preflight', '503'));
    expect(await deploy(anEngine(world, { fleet, preflight }), plan())).toMatchObject({
      state: 'failed',
      isDirty: true,
      cause: { text: expect.stringContaining('it does not end') },
    });
  });

  it('ends on one release wherever its process is killed, and the journal says on which', async () => {
    await deploy(anEngine(world), plan());
    const all = world.steps;
    expect(all).toBeGreaterThan(8);
    for (let killAt = 1; killAt <= all; killAt += 1) {
      const killed = aWorld();
      killed.killAt = killAt;
      await deploy(anEngine(killed), plan()).catch((error: unknown) => expect(error).toBeInstanceOf(Killed));
      // All that it ran has ended with it; the next process starts what is recorded.
      const next = {
        ...killed,
        killAt: Infinity,
        members: [1, 2].map((number) => member(number, killed.disk.recorded)),
      };
      const engine = anEngine(next);
      await engine.recover();
      const run = engine.runs().at(-1);
      expect(run === undefined || isOver(run.state)).toBe(true);
      expect(run?.state === 'done').toBe(next.disk.recorded !== undefined);
      expect(new Set(serving(next)).size).toBe(1);
      expect(await deploy(engine, plan())).toMatchObject({ state: 'done' });
    }
  });

  it('writes only states that may follow each other', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 30 }),
        fc.constantFrom('guard', 'abort', 'nothing'),
        async (at, what) => {
          const own = aWorld();
          let engine: DeployEngine | undefined;
          const check = async () => {
            if (own.steps < at || what === 'nothing') return;
            if (what === 'guard') throw tripped('exit', 'it ended');
            void engine?.act('abort').catch(() => undefined); // It may be over already.
          };
          const guards = { begin: async () => undefined, check, conclude: async () => undefined };
          engine = anEngine(own, { guards });
          const run = await deploy(engine, plan());
          const states = own.disk.records.flatMap((one) => (one.kind === 'state' ? [one.state] : []));
          for (const [index, state] of states.entries())
            expect(transitions[states[index - 1] ?? 'planned']).toContain(state);
          expect(new Set(serving(own))).toEqual(new Set([run.state === 'done' ? '1.1.0' : 'built']));
          expect(own.members).toHaveLength(2);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a rolling deploy of containers, which pass no port on', () => {
  const surging = (changes: Partial<DeployPlan> = {}) => aPlan({ isSurging: true, ...changes });
  /** What serves while each replica is replaced: the one that is replaced does not. */
  function watched(own: World): { readonly fleet: FleetControl; readonly others: string[][] } {
    const others: string[][] = [];
    const fleet: FleetControl = {
      ...fleetOf(own),
      async replace(service, name, ...rest) {
        others.push(own.members.filter((one) => one.weight > 0 && one.name !== name).map((one) => one.name));
        await fleetOf(own).replace(service, name, ...rest);
      },
    };
    return { fleet, others };
  }

  it('has another replica serve while the only one is replaced', async () => {
    const own = aWorld(1);
    const { fleet, others } = watched(own);
    expect(await deploy(anEngine(own, { fleet }), surging())).toMatchObject({ state: 'done' });
    expect(others).toEqual([['orders-2']]);
    expect(own.members.map(({ name }) => name)).toEqual(['orders-1']);
    expect(serving(own)).toEqual(['1.1.0']);
  });

  it('has a replica of before serve while the only other one is rolled back', async () => {
    const own = aWorld(1);
    const { fleet, others } = watched(own);
    let isBad = false;
    const check = async () => {
      if (isBad) throw tripped('exit', 'orders-1 ended');
    };
    const onChange = (run: DeployRun) => {
      isBad ||= run.state === 'kept';
    };
    const guards = { begin: async () => undefined, check, conclude: async () => undefined };
    expect(await deploy(anEngine(own, { fleet, guards, onChange }), surging())).toMatchObject({ state: 'rolled-back' });
    expect(others).toEqual([['orders-2'], ['orders-2']]);
    expect(own.members.map(({ name }) => name)).toEqual(['orders-1']);
    expect(serving(own)).toEqual(['built']);
  });

  it('has a replica run what it ran before where its replacement is interrupted', async () => {
    const own = aWorld(1);
    let isBad = false;
    const fleet: FleetControl = {
      ...fleetOf(own),
      async replace(service, name, release, signal) {
        await fleetOf(own).replace(service, name, release, signal);
        // The container of before has ended; its successor has started, and is not ready.
        if (release !== NEW) return;
        isBad = true;
        await once(signal, 'abort');
        throw signal.reason;
      },
    };
    const check = async () => {
      if (isBad) throw tripped('attempts', 'the connections of 3 calls broke');
    };
    const guards = { begin: async () => undefined, check, conclude: async () => undefined };
    const clock = clockOf(own, () => new Promise(setImmediate));
    const run = await deploy(anEngine(own, { fleet, guards, clock }), surging());
    expect(run).toMatchObject({ state: 'rolled-back', isDirty: false });
    expect(own.members.map(({ name }) => name)).toEqual(['orders-1']);
    expect(serving(own)).toEqual(['built']);
  });

  it('ends what was tried out with orders in flight first, and replaces nothing where they are lost', async () => {
    const own = aWorld(1);
    const ending: string[][] = [];
    const retire: EngineDeps['retire'] = async ({ instances }, end) => {
      ending.push([...instances]);
      await end();
      throw tripped('drain', 'orders-2 ended with 6 orders in flight, and 6 were lost');
    };
    expect(await deploy(anEngine(own, { retire }), surging())).toMatchObject({
      state: 'rolled-back',
      cause: { guard: 'drain' },
    });
    expect(ending).toEqual([['orders-2']]);
    expect(own.log.filter((step) => step.startsWith('replace'))).toEqual([]);
    expect(own.members.map(({ name }) => name)).toEqual(['orders-1']);
  });

  it('adds a replica on the public port in place of the one that was tried out elsewhere', async () => {
    const own = aWorld(1);
    const { fleet } = watched(own);
    const staged: unknown[] = [];
    const stage: FleetControl['stage'] = async (service, count, like, signal) => {
      staged.push(like.isPrivate ?? false);
      return fleet.stage(service, count, like, signal);
    };
    const run = await deploy(anEngine(own, { fleet: { ...fleet, stage } }), surging({ isPublic: true }));
    expect(run).toMatchObject({ state: 'done' });
    expect(staged).toEqual([true, false]);
    expect(own.members.map(({ name }) => name)).toEqual(['orders-1']);
  });
});

describe('a deploy in the shadow', () => {
  const plan = aPlan({ strategy: 'shadow' });

  it('adds a replica that serves no client, and removes it', async () => {
    const staged: unknown[] = [];
    const compare = async (name: string) => {
      staged.push(world.members.find((one) => one.name === name));
      return '20 messages';
    };
    expect(await deploy(anEngine(world, { compare }), plan)).toMatchObject({ state: 'compared', isDirty: false });
    expect(staged).toEqual([expect.objectContaining({ weight: 0, release: { ...NEW, env: { SHOP_SHADOW: '1' } } })]);
    expect(serving(world)).toEqual(['built', 'built']);
    expect(world.members).toHaveLength(2);
    expect(world.disk.recorded).toBeUndefined();
  });

  it.each([
    ['a difference', tripped('shadow', 'the message 1 would end in dead-letter'), 'rolled-back'],
    ['missing evidence', unobserved('3 messages were compared'), 'inconclusive'],
  ] as const)('with %s is not good', async (_what, trip, state) => {
    const run = await deploy(anEngine(world, { compare: () => Promise.reject(trip) }), plan);
    expect(run).toMatchObject({ state, cause: trip.why, isDirty: false });
    expect(world.members).toHaveLength(2);
  });
});

describe('an operator', () => {
  const long = aPlan({ keepMs: 3_600_000 });
  const kept = (engine: DeployEngine) => expect.poll(() => engine.current?.state, { interval: 1 }).toBe('kept');
  const clock = clockOf(aWorld(), () => new Promise(setImmediate));

  it('ends the time in which it is watched', async () => {
    const engine = anEngine(world, { clock });
    await engine.start(long);
    await kept(engine);
    await engine.act('promote');
    expect(await ended(engine)).toMatchObject({ state: 'done' });
  });

  it('rolls it back', async () => {
    const engine = anEngine(world, { clock });
    await engine.start(long);
    await kept(engine);
    expect(await engine.act('abort')).toMatchObject({ state: 'rolled-back', cause: { kind: 'asked' } });
    expect(serving(world)).toEqual(['built', 'built']);
  });

  it('pauses it, and it goes on', async () => {
    let paused: Promise<DeployRun> | undefined;
    const onChange = ({ state }: DeployRun) => {
      if (state === 'kept') paused ??= engine.act('pause');
    };
    const engine = anEngine(world, { clock, onChange });
    await engine.start(aPlan({ keepMs: 1_000 }));
    await kept(engine);
    expect(await paused).toMatchObject({ isPaused: true });
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    expect(engine.current).toMatchObject({ state: 'kept', isPaused: true });
    await engine.act('resume');
    expect(await ended(engine)).toMatchObject({ state: 'done' });
  });

  it('cannot begin another one, unless it supersedes the first', async () => {
    const engine = anEngine(world, { clock });
    await engine.start(long);
    await expect(engine.start(aPlan())).rejects.toMatchObject({ code: 'deploy_active', exitCode: 2 });
    await kept(engine);
    await engine.start(aPlan(), { supersede: true });
    expect(await ended(engine)).toMatchObject({ state: 'done' });
    expect(engine.runs()[0]).toMatchObject({ state: 'rolled-back', cause: { kind: 'superseded' } });
  });

  it('cannot begin while a flag is rolled out, and leaves nothing behind', async () => {
    const obstacle = new CliError({ code: 'deploy_active', what: 'a rollout of a flag is not over' });
    const engine = anEngine(world, { clock, obstacle: () => obstacle });
    await expect(engine.start(aPlan())).rejects.toBe(obstacle);
    await expect(engine.start(aPlan(), { supersede: true })).rejects.toBe(obstacle);
    expect([engine.current, engine.runs()]).toEqual([undefined, []]);
  });

  it.each(['promote', 'pause', 'resume', 'abort'] as const)('has nothing to %s without a deploy', async (action) => {
    await expect(anEngine(world).act(action)).rejects.toMatchObject({ code: 'no_deploy', exitCode: 2 });
  });

  it('who takes the platform down ends a deploy, and nothing is done for it', async () => {
    const engine = anEngine(world, { clock });
    await engine.start(long);
    await kept(engine);
    const before = world.log.length;
    await engine.end();
    expect(engine.runs().at(-1)).toMatchObject({ state: 'rolled-back', cause: { kind: 'ended' } });
    expect(world.log.slice(before)).toEqual(['rolled-back']);
  });

  it('who takes the platform down waits until the build of a forced release is over, which removes its copy', async () => {
    const engine = anEngine(world, { clock });
    let copies = 1;
    const build = async (signal: AbortSignal) => {
      await once(signal, 'abort');
      await nextTurn();
      copies -= 1;
      throw signal.reason;
    };
    const rejected = expect(engine.force(aPlan({ build }))).rejects.toThrow();
    await engine.end();
    expect(copies).toBe(0);
    await rejected;
  });
});
