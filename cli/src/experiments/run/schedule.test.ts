import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FoundExperiment } from '../format/catalog.ts';
import { needsKey } from './needs.ts';
import { MAX_PLATFORMS, platformsOf, Schedule } from './schedule.ts';

/** An experiment that takes so long, on a platform with so many replicas of orders. */
function anExperiment(id: string, ms: number, orders = 1): FoundExperiment & { readonly ms: number } {
  const platform = { failpoints: false, replicas: { orders }, env: {}, 'seeded-bugs': [] };
  return { file: `${id}.yaml`, experiment: { id, platform }, ms } as unknown as FoundExperiment & { ms: number };
}

const msOf = (found: FoundExperiment) => (found as ReturnType<typeof anExperiment>).ms;
const idOf = (found: FoundExperiment | undefined) => found?.experiment.id;
const needsOf = (orders: number) => needsKey(anExperiment('any', 0, orders).experiment.platform);

/** Takes as one platform does, to the end. */
function takeAll(schedule: Schedule): (string | undefined)[] {
  const taken: (string | undefined)[] = [];
  let needs: string | undefined;
  for (let found = schedule.take(needs); found !== undefined; found = schedule.take(needs)) {
    taken.push(idOf(found));
    needs = needsKey(found.experiment.platform);
  }
  return taken;
}

interface Simulated {
  /** When the last experiment ended, ms. */
  readonly endedAt: number;
  readonly taken: readonly string[];
  readonly starts: number;
}

/** So many platforms that take whenever they are free; a platform with other needs takes `startMs` to start. */
function simulate(schedule: Schedule, platforms: number, startMs: number): Simulated {
  const free = Array.from({ length: platforms }, () => ({ at: 0, needs: undefined as string | undefined }));
  const taken: string[] = [];
  let [endedAt, starts] = [0, 0];
  while (free.length > 0) {
    free.sort((a, b) => a.at - b.at);
    const platform = free[0] as (typeof free)[number];
    const found = schedule.take(platform.needs);
    if (found === undefined) {
      free.shift();
      continue;
    }
    taken.push(idOf(found) as string);
    const needs = needsKey(found.experiment.platform);
    if (needs !== platform.needs) {
      platform.at += startMs;
      starts += 1;
    }
    platform.needs = needs;
    platform.at += msOf(found);
    endedAt = Math.max(endedAt, platform.at);
  }
  return { endedAt, taken, starts };
}

describe('a schedule', () => {
  it('keeps the given order on one platform, experiments with the same needs together', () => {
    const given = [anExperiment('A', 5), anExperiment('B', 9, 2), anExperiment('C', 7), anExperiment('D', 1, 2)];
    expect(takeAll(new Schedule(given, () => 0))).toEqual(['A', 'C', 'B', 'D']);
  });

  it('gives the longest first', () => {
    const given = [anExperiment('A', 5), anExperiment('B', 9), anExperiment('C', 7)];
    expect(takeAll(new Schedule(given, msOf))).toEqual(['B', 'C', 'A']);
  });

  it('gives a platform what it can run without a new start', () => {
    const schedule = new Schedule([anExperiment('A', 9), anExperiment('B', 8, 2), anExperiment('C', 1)], msOf);
    expect(idOf(schedule.take())).toBe('A');
    expect(idOf(schedule.take(needsOf(1)))).toBe('C');
    expect(idOf(schedule.take(needsOf(1)))).toBe('B');
    expect(schedule.take(needsOf(2))).toBeUndefined();
  });

  it('gives each platform needs that no other works on, and then what has the most left', () => {
    const given = [anExperiment('A', 9), anExperiment('B', 9), anExperiment('C', 9), anExperiment('D', 5, 2)];
    const schedule = new Schedule(given, msOf);
    expect([schedule.take(), schedule.take(), schedule.take()].map(idOf)).toEqual(['A', 'D', 'B']);
  });

  it('no longer gives what was removed, and lists what waits for the same needs', () => {
    const twice = anExperiment('B', 5);
    const schedule = new Schedule([anExperiment('A', 9), twice, twice], msOf);
    schedule.take();
    expect(schedule.waitingFor(needsOf(1)).map(idOf)).toEqual(['B', 'B']);
    expect([schedule.removeAll(twice), schedule.removeAll(twice)]).toEqual([true, false]);
    expect(schedule.take(needsOf(1))).toBeUndefined();
  });

  it('removes one experiment once, also where every repetition of it was taken', () => {
    const unavailable = anExperiment('A', 9);
    const schedule = new Schedule([unavailable, unavailable], msOf);
    expect([schedule.take(), schedule.take()].map(idOf)).toEqual(['A', 'A']);
    expect([schedule.removeAll(unavailable), schedule.removeAll(unavailable)]).toEqual([true, false]);
  });

  it('gives every experiment once, on any number of platforms', () => {
    const anySet = fc.array(
      fc.record({ ms: fc.integer({ min: 1, max: 200 }), orders: fc.integer({ min: 1, max: 4 }) }),
    );
    fc.assert(
      fc.property(anySet, fc.integer({ min: 1, max: 6 }), (set, platforms) => {
        const given = set.map(({ ms, orders }, index) => anExperiment(`E${index}`, ms, orders));
        const { taken } = simulate(new Schedule(given, msOf), platforms, 10);
        expect(taken.toSorted()).toEqual(given.map((one) => one.experiment.id).toSorted());
      }),
    );
  });

  it('ends at the latest one experiment and one start after an even division', () => {
    const anySet = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 });
    fc.assert(
      fc.property(anySet, fc.integer({ min: 1, max: 6 }), (times, platforms) => {
        const given = times.map((ms, index) => anExperiment(`E${index}`, ms));
        const { endedAt } = simulate(new Schedule(given, msOf), platforms, 10);
        const even = times.reduce((sum, ms) => sum + ms, 0) / platforms;
        expect(endedAt).toBeLessThanOrEqual(even + Math.max(...times) + 10);
      }),
    );
  });
});

describe('the number of platforms', () => {
  const machine = { cores: 2, memoryBytes: 24e9, bytesPerPlatform: 1e9 };

  it.each([
    ['two for each core', machine, 4],
    ['no more than there is memory for', { ...machine, memoryBytes: 3.5e9 }, 3],
    ['one where there is hardly any', { ...machine, memoryBytes: 0.2e9 }, 1],
    ['no more than the names have room for', { ...machine, cores: 64, memoryBytes: 500e9 }, MAX_PLATFORMS],
  ] as const)('is %s', (_, given, count) => {
    expect(platformsOf(given)).toBe(count);
  });
});
