import { describe, expect, it } from 'vitest';
import type { RecentLook } from '../../audit/recent.ts';
import type { InstanceState } from '../../platform/state.ts';
import { createAuditGuard } from './audit-look.ts';
import { readDeadLetters } from './dead-letters.ts';
import { createInstanceGuards } from './instances.ts';
import { createMemoryGuard } from './memory.ts';
import { createWorkGuard, type Work } from './work-per-order.ts';

describe('the process of a canary', () => {
  const state = (changes: Partial<InstanceState> = {}) =>
    ({ name: 'orders-3', status: 'ready', crashes: 1, startedAt: '09:00', ...changes }) as InstanceState;

  /** The states of the guards after these states of the instance, one a second. */
  function read(...states: readonly (InstanceState | undefined)[]) {
    const guards = createInstanceGuards();
    const readings = states.map((one, second) =>
      guards.read(['orders-3'], one === undefined ? [] : [one], second * 1_000),
    );
    return Object.fromEntries((readings.at(-1) ?? []).map((one) => [one.guard, one.state]));
  }
  const held = { exit: 'held', 'not-ready': 'held', restart: 'held' };

  it.each([
    ['runs', [state(), state()], held],
    ['had crashed before', [state({ crashes: 4 })], held],
    ['crashes', [state(), state({ crashes: 2 })], { ...held, exit: 'tripped' }],
    ['has failed', [state(), state({ status: 'failed' })], { ...held, exit: 'tripped' }],
    ['is gone', [state(), undefined], { ...held, exit: 'tripped' }],
    ['is another one', [state(), state({ startedAt: '09:01' })], { ...held, restart: 'tripped' }],
    ['is not ready for a moment', [state(), state({ status: 'unready' }), state()], held],
    [
      'is not ready for two seconds',
      [state({ status: 'unready' }), state({ status: 'unready' }), state({ status: 'unready' })],
      { ...held, 'not-ready': 'tripped' },
    ],
  ] as const)('that %s', (_what, states, expected) => {
    expect(read(...states)).toEqual(expected);
  });
});

describe('memory', () => {
  /** MB by second. */
  type Growth = (second: number) => number;

  function read(canary: Growth, baseline: Growth, seconds: number) {
    const guard = createMemoryGuard();
    for (let second = 0; second <= seconds; second += 1)
      guard.add(
        second * 1_000,
        new Map([
          ['canary', canary(second) * 1e6],
          ['baseline', baseline(second) * 1e6],
        ]),
      );
    return guard.read(['canary'], ['baseline'], seconds * 1_000).state;
  }
  const steady: Growth = () => 150;
  const leaking: Growth = (second) => 150 + (50 * second) / 60;

  it.each([
    ['that stays', steady, steady, 150, 'held'],
    ['that grows for two minutes', leaking, steady, 125, 'tripped'],
    ['that has not been observed for so long', leaking, steady, 100, 'held'],
    ['that grows at both', leaking, leaking, 150, 'held'],
    ['that grew once', (second) => 150 + Math.min(60, 2 * second), steady, 150, 'held'],
  ] as const satisfies readonly (readonly [string, Growth, Growth, number, string])[])(
    '%s',
    (_what, canary, baseline, seconds, expected) => {
      expect(read(canary, baseline, seconds)).toBe(expected);
    },
  );

  it('that cannot be read is unknown', () => {
    expect(createMemoryGuard().read(['canary'], [], 1_000).state).toBe('unknown');
  });
});

describe('work', () => {
  /** After 20 s with so many requests a second, each of which takes this. */
  function read({ rate = 5, canary = {}, others = {} }: { rate?: number; canary?: object; others?: object }) {
    const guard = createWorkGuard();
    const each = { statements: 9, cpuMs: 6 };
    for (let second = 0; second <= 20; second += 1) {
      const done = (per: object): Work => {
        const { statements, cpuMs } = { ...each, ...per };
        const requests = second * rate;
        return { requests, statements: requests * statements, cpuMs: requests * cpuMs };
      };
      guard.add(
        second * 1_000,
        new Map([
          ['canary', done(canary)],
          ['baseline', done(others)],
          ['stable', done(others)],
        ]),
      );
    }
    return guard.read(['canary'], { others: ['stable', 'baseline'], peers: ['baseline'] }, 20_000);
  }

  it.each([
    ['that is the same', {}, 'held'],
    ['that is half as many statements again', { canary: { statements: 14 } }, 'tripped'],
    ['that is twice the CPU', { canary: { cpuMs: 12 } }, 'tripped'],
    ['that is less', { canary: { statements: 5, cpuMs: 2 } }, 'held'],
    ['of few requests', { rate: 1, canary: { statements: 30 } }, 'held'],
  ] as const)('%s', (_what, changes, expected) => {
    expect(read(changes).state).toBe(expected);
  });

  it('says what it compared', () => {
    expect(read({ canary: { statements: 14 } }).detail).toBe('14.0 statements a request, the others 9.0');
    expect(read({ rate: 1 }).detail).toBe('not compared below 2 requests a second');
  });
});

it.each([
  [3, 3, 'held'],
  [3, 4, 'tripped'],
  [3, undefined, 'unknown'],
  [undefined, 0, 'unknown'],
] as const)('dead letters of %s before and %s now: %s', (before, now, state) => {
  expect(readDeadLetters(before, now, 0).state).toBe(state);
});

describe('the audit of a rollout', () => {
  const violation = { invariant: 'I4', kind: 'wrong', detail: 'charged twice' } as const;
  const recent = (changes: Partial<RecentLook> = {}): RecentLook => ({
    at: 0,
    orders: 7,
    violations: [],
    unknown: new Map(),
    unfinishedSince: undefined,
    ...changes,
  });

  /** The last reading after these looks, ten seconds apart. */
  async function read(...looks: readonly (() => Promise<RecentLook>)[]) {
    let number = 0;
    const guard = createAuditGuard(() => (looks[number++] as () => Promise<RecentLook>)(), 0);
    for (const index of looks.keys()) {
      guard.read(index * 10_000);
      await new Promise(setImmediate);
    }
    return guard.read(looks.length * 10_000 - 1);
  }
  const found = (changes: Partial<RecentLook>) => async () => recent(changes);

  it.each([
    ['finds nothing', [found({})], 'held'],
    ['finds an order of it', [found({}), found({ violations: [{ ...violation, placedAt: 5 }] })], 'tripped'],
    [
      'finds what was so before',
      [
        found({ violations: [{ ...violation, subject: 'product 7' }] }),
        found({ violations: [{ ...violation, subject: 'product 7' }] }),
      ],
      'held',
    ],
    ['cannot check all', [found({ unknown: new Map([['I5', 'no stock']]) })], 'unknown'],
    ['is not possible', [() => Promise.reject(new Error('no database'))], 'unknown'],
  ] as const)('that %s', async (_what, looks, state) => {
    expect((await read(...looks)).state).toBe(state);
  });

  it('is unknown before its first look', () => {
    expect(createAuditGuard(async () => recent(), 0).read(0).state).toBe('unknown');
  });
});
