/**
 * Goal: a flag is on for all orders only after evidence that it may be, and wherever a rollout ends otherwise, it is as it was.
 * Method: the engine with orders that are counted as a plan of the test says; it can be killed before any of its steps.
 */
import { isDeepStrictEqual } from 'node:util';
import { type FlagDefinition, offDefinition } from '@shop/kit/flag-file.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { CliError } from '../../errors.ts';
import { killed, reachOf } from '../../platform/flag-state.ts';
import type { Evidence } from '../analysis/evidence.ts';
import type { GuardReading } from '../analysis/guards.ts';
import type { CanaryPlan } from '../analysis/plan.ts';
import type { FlagRollout, RolloutRecord } from './rollout.ts';
import { type RolloutDeps, RolloutEngine } from './rollout-engine.ts';

const FLAG = 'publish-order-confirmed-v2';
const plan: CanaryPlan = {
  service: 'orders',
  baseline: 'running',
  steps: [
    { share: 0.2, requests: 20, forMs: 2_000 },
    { share: 0.5, requests: 100, forMs: 2_000 },
  ],
  limitMs: 60_000,
  errors: { alpha: 0.008, tolerate: 1 },
  slow: { alpha: 0.002, tolerate: 1.25, above: 0.95, warmUp: 20 },
  margin: 0.05,
  guards: ['dead-letter'],
};

class Killed extends Error {}

interface World {
  readonly records: RolloutRecord[];
  flag: FlagDefinition;
  nowMs: number;
  steps: number;
  killAt: number;
  readonly written: FlagDefinition[];
}

const aWorld = (): World => ({ records: [], flag: offDefinition, nowMs: 0, steps: 0, killAt: Infinity, written: [] });

async function step(world: World): Promise<void> {
  world.steps += 1;
  if (world.steps >= world.killAt) throw new Killed();
}

interface Orders {
  /** Of 50 orders a second: those that have it on and fail. */
  readonly bad?: (rollout: FlagRollout) => number;
  readonly deadLetter?: GuardReading['state'];
  readonly missing?: readonly string[];
  readonly requests?: number;
}

function anEngine(world: World, orders: Orders = {}, changes: Partial<RolloutDeps> = {}): RolloutEngine {
  const { bad = () => 0, deadLetter = 'held', missing = [], requests = 50 } = orders;
  return new RolloutEngine({
    journal: {
      async append(record) {
        await step(world);
        world.records.push(structuredClone(record));
      },
      read: async () => world.records,
    },
    flags: {
      read: async () => world.flag,
      async write(_flag, definition) {
        await step(world);
        world.flag = definition;
        world.written.push(definition);
      },
    },
    observe: async () => ({
      level: { requests: 1_000, bad: 0 },
      async look(rollout) {
        const share = rollout.plan.steps[rollout.stepsBegan.length - 1]?.share ?? 0;
        const at = world.nowMs;
        const on = Math.round(requests * share);
        const lines: Evidence[] = [
          { at, arm: 'canary', share, requests: on, bad: Math.min(on, bad(rollout)), slow: 0 },
          { at, arm: 'stable', share, requests: requests - on, bad: 0, slow: 0 },
        ];
        return { at, evidence: lines, guards: [{ guard: 'dead-letter', at, state: deadLetter, detail: '' }], missing };
      },
    }),
    onChange: () => undefined,
    onProblem: () => undefined,
    clock: {
      now: () => world.nowMs,
      date: () => new Date(world.nowMs),
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          world.nowMs += ms;
          setImmediate(() => (signal.aborted ? reject(signal.reason) : resolve()));
        }),
    },
    ...changes,
  });
}

const request = { flag: FLAG, plan, asked: { by: { user: 'anna', source: 'command line' } } } as const;

async function ended(engine: RolloutEngine): Promise<FlagRollout> {
  await expect.poll(() => engine.rollouts().at(-1)?.isOver, { interval: 1 }).toBe(true);
  return engine.rollouts().at(-1) as FlagRollout;
}

async function rollOut(engine: RolloutEngine): Promise<FlagRollout> {
  await engine.start(request);
  return ended(engine);
}

let world: World;
beforeEach(() => {
  world = aWorld();
});

describe('a flag', () => {
  it('whose orders do not fail is on for all of them, after each step of the plan', async () => {
    expect(await rollOut(anEngine(world))).toMatchObject({ end: 'promoted' });
    expect(world.written.map(reachOf)).toEqual([
      { kind: 'share', percent: 20 },
      { kind: 'share', percent: 50 },
      { kind: 'on' },
    ]);
  });

  it.each([
    ['orders fail', { bad: () => 2 }, 'rolled-back'],
    [
      'orders fail in the second step',
      { bad: ({ stepsBegan }: FlagRollout) => (stepsBegan.length > 1 ? 3 : 0) },
      'rolled-back',
    ],
    ['a message is a dead letter', { deadLetter: 'tripped' }, 'rolled-back'],
    ['dead letters are not known', { deadLetter: 'unknown' }, 'inconclusive'],
    ['an instance reports nothing', { missing: ['orders-2 reports nothing'] }, 'inconclusive'],
    ['there are no orders', { requests: 0 }, 'inconclusive'],
    ['there are too few orders by its limit', { requests: 2 }, 'inconclusive'],
  ] as const)('is as it was where %s', async (_what, orders, end) => {
    const rollout = await rollOut(anEngine(world, orders));
    expect(rollout).toMatchObject({ end });
    expect(rollout.text).not.toBe('');
    expect(world.flag).toBe(offDefinition);
  });

  it('that another command changes stays as that has it', async () => {
    const engine = anEngine(world, { requests: 0 });
    await engine.start(request);
    await expect.poll(() => world.written.length, { interval: 1 }).toBe(1);
    world.flag = killed(world.flag);
    const now = world.flag;
    expect(await ended(engine)).toMatchObject({ end: 'overridden' });
    expect(world.flag).toBe(now);
  });

  it('is as it was after an interruption', async () => {
    const engine = anEngine(world, { requests: 0 });
    await engine.start(request);
    expect(await engine.abort('asked for by an operator')).toMatchObject({ end: 'rolled-back', isOver: true });
    expect(world.flag).toBe(offDefinition);
  });

  it('is rolled out once at a time', async () => {
    const engine = anEngine(world, { requests: 0 });
    await engine.start(request);
    await expect(engine.start(request)).rejects.toMatchObject({ code: 'deploy_active', exitCode: 2 });
    await engine.end();
    await expect(engine.abort('')).rejects.toMatchObject({ code: 'no_deploy' });
  });

  it('is not rolled out while something else is, and leaves nothing behind', async () => {
    const obstacle = new CliError({ code: 'deploy_active', what: 'a deploy of orders to 0.3.0 is kept' });
    let isActive = true;
    const engine = anEngine(world, { requests: 0 }, { obstacle: () => (isActive ? obstacle : undefined) });
    await expect(engine.start(request)).rejects.toBe(obstacle);
    expect([engine.active, world.records, world.written]).toEqual([undefined, [], []]);
    isActive = false;
    await engine.start(request);
    expect(engine.active).toBe(FLAG);
    await engine.end();
    expect(engine.active).toBeUndefined();
  });

  it('is as it was, or on as was decided, wherever its process is killed', async () => {
    await rollOut(anEngine(world));
    const all = world.steps;
    for (let killAt = 1; killAt <= all; killAt += 1) {
      const own = aWorld();
      own.killAt = killAt;
      const problems: string[] = [];
      const engine = anEngine(own, {}, { onProblem: (message) => problems.push(message) });
      await engine.start(request).catch((error: unknown) => expect(error).toBeInstanceOf(Killed));
      await expect.poll(() => own.steps, { interval: 1 }).toBeGreaterThanOrEqual(killAt);
      // What is on disk; the process that was killed does nothing more.
      const left: World = { ...own, killAt: Infinity, records: structuredClone(own.records) };
      const next = anEngine(left);
      await next.recover();
      const rollout = next.rollouts().at(-1);
      expect(rollout === undefined || rollout.isOver).toBe(true);
      const isOn = reachOf(left.flag).kind === 'on';
      expect(isOn, `killed at step ${killAt}`).toBe(rollout?.end === 'promoted');
      if (!isOn) expect(isDeepStrictEqual(left.flag, offDefinition)).toBe(true);
    }
  });
});
