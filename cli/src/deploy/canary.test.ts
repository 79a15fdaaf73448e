/**
 * Goal: a canary gets calls by its plan, and what becomes of it follows from its journal alone.
 * Method: the engine on a fake fleet whose clients meet what the test says, look by look; sleeping advances the clock.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { evaluate } from './analysis/evaluate.ts';
import type { DeployEngine, DeployPlan, EngineDeps } from './engine.ts';
import type { CanaryTerms, DeployRun } from './run.ts';
import { rolloutAt } from './samples.ts';
import {
  anEngine,
  aPlan,
  aWorld,
  clockOf,
  deploy,
  ended,
  exitGuard,
  fleetOf,
  serving,
  shareOf,
  type Traffic,
  theTerms,
  type World,
} from './testing/world.ts';

let world: World;
beforeEach(() => {
  world = aWorld();
});

const aCanary = (terms: Partial<CanaryTerms> = {}, changes: Partial<DeployPlan> = {}) =>
  aPlan({ strategy: 'canary', canary: { ...theTerms, ...terms }, ...changes });

/** Waits until a canary is there; sleeps end in a later turn, so that operators come through. */
async function until(engine: DeployEngine, state: DeployRun['state']): Promise<void> {
  await expect.poll(() => engine.current?.state, { interval: 1, timeout: 10_000 }).toBe(state);
}

const patiently = (changes: Partial<EngineDeps> = {}) =>
  anEngine(world, { clock: clockOf(world, () => new Promise(setImmediate)), ...changes });

/** An operator acts the moment in which a deploy is in this state. */
function withOperator(state: DeployRun['state'], act: (engine: DeployEngine) => Promise<unknown>): DeployEngine {
  let hasActed = false;
  const engine: DeployEngine = patiently({
    onChange(run) {
      if (hasActed || run.state !== state) return;
      hasActed = true;
      void act(engine);
    },
  });
  return engine;
}

const good: Traffic = {};
const noLoad: Traffic = { canary: { requests: 0 }, stable: { requests: 0 } };
const failing: Traffic = { canary: { requests: 10, bad: 5 } };

const loggedSince = (from: string) => world.log.slice(world.log.indexOf(from));

describe('a good canary', () => {
  it('gets its shares step by step, and is promoted without a restart', async () => {
    const run = await deploy(anEngine(world), aCanary());
    expect(run).toMatchObject({ state: 'done' });
    expect(run.weights?.map(({ reason, share }) => [reason, share])).toEqual([
      ['step', 0.05],
      ['step', 0.5],
      ['promoted', 0.95],
    ]);
    expect(run.verdicts?.map(({ verdict }) => verdict.decision)).toEqual(['step', 'promote']);
    expect(world.log.filter((what) => what.startsWith('replace'))).toEqual([]);
    expect(world.members.map(({ name, track, weight }) => [name, track, weight])).toEqual([
      ['orders-3', 'stable', 100],
      ['orders-5', 'stable', 100],
    ]);
    expect(serving(world)).toEqual(['1.1.0', '1.1.0']);
  });

  it('is drawn for the share that its weights say', async () => {
    const shares: number[] = [];
    world.traffic = (share) => {
      shares.push(Math.round(share * 1_000) / 1_000);
      return good;
    };
    await deploy(anEngine(world), aCanary());
    expect([...new Set(shares)]).toEqual([0.05, 0.5, 0.95]);
  });

  it('is compared with a fresh replica of the release of before only where its plan says so', async () => {
    const running = { ...theTerms, plan: { ...theTerms.plan, baseline: 'running' as const } };
    await deploy(anEngine(world), aCanary(running));
    expect(world.log.filter((what) => what === 'stage')).toHaveLength(2);
    world = aWorld();
    await deploy(anEngine(world), aCanary());
    expect(world.log.filter((what) => what === 'stage')).toHaveLength(3);
  });

  it('takes the calls one step earlier where an operator promotes it', async () => {
    const engine = withOperator('analysis', (one) => one.act('promote'));
    world.traffic = () => noLoad;
    expect(await deploy(engine, aCanary({}, { keepMs: 0 }))).toMatchObject({
      state: 'done',
      weights: [{ share: 0.05 }, { share: 0.95 }],
    });
  });

  it('takes no step while it is paused, and goes on', async () => {
    const engine = withOperator('analysis', (one) => one.act('pause'));
    const run = await engine.start(aCanary());
    await expect.poll(() => engine.current?.isPaused, { interval: 1, timeout: 10_000 }).toBe(true);
    for (let turn = 0; turn < 200; turn += 1) await new Promise(setImmediate);
    expect(engine.current).toMatchObject({ id: run.id, state: 'analysis', isPaused: true });
    await engine.act('resume');
    expect(await ended(engine)).toMatchObject({ state: 'done' });
  });
});

describe('a bad canary', () => {
  it.each([
    ['fails', failing, { kind: 'worse', text: expect.stringContaining('requests of the canary failed') }],
    ['is slow', { canary: { requests: 40, slow: 20 } }, { kind: 'worse', text: expect.stringContaining('slow') }],
  ] as const)('that %s is rolled back by the test', async (_what, traffic, cause) => {
    world.traffic = () => traffic;
    expect(await deploy(anEngine(world), aCanary())).toMatchObject({ state: 'rolled-back', cause });
    expect(serving(world)).toEqual(['built', 'built']);
    expect(world.members).toHaveLength(2);
  });

  it('that exits is rolled back by the guard, whatever its outcomes are', async () => {
    world.traffic = (_share, at) => ({ guards: [exitGuard(at > 1_500 ? 'tripped' : 'held', at)] });
    const run = await deploy(anEngine(world), aCanary());
    expect(run).toMatchObject({ state: 'rolled-back', cause: { kind: 'guard', guard: 'exit' } });
  });

  it('loses its calls in one write, before anything else is done', async () => {
    world.traffic = () => failing;
    await deploy(anEngine(world), aCanary());
    expect(loggedSince('rolling-back').slice(0, 3)).toEqual(['rolling-back', 'step', 'weigh']);
    expect(shareOf(world)).toBe(0);
  });

  it.each([
    ['total-errors', [['orders-3', 1_000], ['orders-4']]],
    ['exit', [['orders-3,orders-4']]],
  ] as const)(
    'that the guard %s finds has its usual time to end, or one second where it harms all',
    async (guard, removed) => {
      const unstaged: unknown[] = [];
      const fleet = fleetOf(world);
      const unstage: typeof fleet.unstage = async (service, names, ...limit) => {
        unstaged.push([names.join(), ...limit.filter((one) => one !== undefined)]);
        await fleet.unstage(service, names);
      };
      world.traffic = (_share, at) => ({
        guards: [exitGuard('held', at), { guard, at, state: 'tripped', detail: '' }],
      });
      const plan = { ...theTerms.plan, guards: ['exit', 'total-errors'] as const };
      const engine = anEngine(world, { fleet: { ...fleet, unstage } });
      expect(await deploy(engine, aCanary({ plan }))).toMatchObject({ state: 'rolled-back', cause: { guard } });
      expect(unstaged).toEqual(removed);
    },
  );

  it('is rolled back while it is paused, too', async () => {
    let isBad = false;
    world.traffic = () => (isBad ? failing : noLoad);
    const engine = withOperator('analysis', async (one) => {
      await one.act('pause');
      isBad = true;
    });
    expect(await deploy(engine, aCanary())).toMatchObject({ state: 'rolled-back', cause: { kind: 'worse' } });
  });

  it('that turns bad after its promotion is rolled back while it is kept', async () => {
    world.traffic = (share) => (share < 0.9 ? good : { canary: { requests: 76, bad: 76 }, stable: { requests: 4 } });
    const run = await deploy(anEngine(world), aCanary({}, { keepMs: 600_000 }));
    expect(run).toMatchObject({ state: 'rolled-back', cause: { kind: 'worse' } });
    expect(serving(world)).toEqual(['built', 'built']);
  });

  it('is left as it is where it may not be rolled back, until an operator decides', async () => {
    world.traffic = () => failing;
    const engine = patiently();
    await engine.start(aCanary({ onFailure: 'freeze' }));
    await until(engine, 'held');
    expect(engine.current?.cause).toMatchObject({ kind: 'worse' });
    expect(shareOf(world)).toBeCloseTo(0.05);
    expect(await engine.act('abort')).toMatchObject({ state: 'rolled-back', cause: { kind: 'asked' } });
    expect(serving(world)).toEqual(['built', 'built']);
  });

  it('that was frozen while it was kept is done where an operator promotes it', async () => {
    world.traffic = (share) => (share < 0.9 ? good : { canary: { requests: 76, bad: 76 }, stable: { requests: 4 } });
    const engine = patiently();
    await engine.start(aCanary({ onFailure: 'freeze' }, { keepMs: 600_000 }));
    await until(engine, 'held');
    await engine.act('promote');
    expect(await ended(engine)).toMatchObject({ state: 'done' });
    expect(serving(world)).toEqual(['1.1.0', '1.1.0']);
  });
});

describe('missing evidence', () => {
  it('of all requests is inconclusive at the limit, and says how many are missing', async () => {
    world.traffic = () => noLoad;
    const run = await deploy(anEngine(world), aCanary());
    expect(run).toMatchObject({ state: 'inconclusive', cause: { kind: 'evidence', text: '0 of 10 requests' } });
    expect(serving(world)).toEqual(['built', 'built']);
  });

  it.each([
    ['of a caller', { missing: ['gateway-1 reports nothing'] }, 'outcomes have not been read for 10 s'],
    ['of a guard', { guards: [] }, 'guard exit is unknown'],
    ['of slowness', { canary: { slow: null }, stable: { slow: null } }, 'slowness is unknown'],
  ] as const)('%s is never a pass', async (_what, traffic, text) => {
    world.traffic = () => traffic;
    const run = await deploy(anEngine(world), aCanary());
    expect(run).toMatchObject({ state: 'inconclusive', cause: { text: expect.stringContaining(text) } });
  });

  it('holds where that is asked for: an operator promotes it', async () => {
    world.traffic = () => noLoad;
    const engine = patiently();
    await engine.start(aCanary({ onInconclusive: 'hold' }, { keepMs: 0 }));
    await until(engine, 'held');
    expect(engine.current?.cause).toMatchObject({ kind: 'evidence' });
    await engine.act('promote');
    expect(await ended(engine)).toMatchObject({ state: 'done' });
  });

  it('is followed by a rollback where it turns out worse while it is held', async () => {
    let isBad = false;
    world.traffic = () => (isBad ? failing : noLoad);
    const engine = patiently();
    await engine.start(aCanary({ onInconclusive: 'hold' }));
    await until(engine, 'held');
    isBad = true;
    expect(await ended(engine)).toMatchObject({ state: 'rolled-back', cause: { kind: 'worse' } });
  });
});

it('has guards in its journal when their state changes, and what they see about every ten seconds', async () => {
  world.traffic = (_share, at) => ({
    ...noLoad,
    guards: [{ ...exitGuard(at > 30_000 ? 'unknown' : 'held', at), detail: `second ${Math.floor(at / 1_000)}` }],
  });
  await deploy(anEngine(world), aCanary());
  const readings = world.disk.samples.flatMap(({ sample }) => sample.guards);
  expect(readings.map(({ state }) => state)).toEqual([...Array(3).fill('held'), ...Array(4).fill('unknown')]);
});

it.each([
  ['good', good],
  ['failing', failing],
  ['idle', noLoad],
])('every verdict on a %s canary is found again from its journal', async (_what, traffic) => {
  world.traffic = () => traffic;
  const run = await deploy(anEngine(world), aCanary());
  const samples = world.disk.samples.map(({ sample }) => sample);
  expect(run.verdicts?.length).toBeGreaterThan(0);
  for (const { at, verdict } of run.verdicts ?? []) expect(evaluate(rolloutAt(run, samples, at), at)).toEqual(verdict);
});
