import { describe, expect, it } from 'vitest';
import { mulberry32 } from './mulberry32.ts';
import type { Track } from './release.ts';
import { trackOfKey } from './track-of-key.ts';

/** As the ids of orders: 128 random bits, of a fixed seed. */
function keys(count: number, seed = 16): readonly string[] {
  const random = mulberry32(seed);
  const hex = (digits: number) => Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('');
  return Array.from({ length: count }, () => `${hex(8)}-${hex(4)}-7${hex(3)}-8${hex(3)}-${hex(12)}`);
}

const weightsOf = (weights: Partial<Record<Track, number>>) => Object.entries(weights) as [Track, number][];

/** Share in percent of the keys that belong to the track. */
function share(of: readonly string[], track: Track, weights: Partial<Record<Track, number>>): number {
  const drawn = of.filter((key) => trackOfKey(key, weightsOf(weights)) === track);
  return (drawn.length / of.length) * 100;
}

describe('a track', () => {
  it.each([
    ['1 %', { canary: 1, stable: 99 }, 1, 0.2],
    ['1 %, whichever is named first', { stable: 99, canary: 1 }, 1, 0.2],
    ['10 % of three', { canary: 100, baseline: 100, stable: 800 }, 10, 1],
    ['50 %', { canary: 250, stable: 250 }, 50, 1],
    ['all', { canary: 1 }, 100, 0],
  ])('with a weight of %s has that share of 20,000 keys', (_title, weights, percent, tolerance) => {
    expect(Math.abs(share(keys(20_000), 'canary', weights) - percent)).toBeLessThanOrEqual(tolerance);
  });

  it('has its share of keys that are numbered', () => {
    const numbered = Array.from({ length: 20_000 }, (_, index) => `order-${index}`);
    expect(Math.abs(share(numbered, 'canary', { canary: 1, stable: 99 }) - 1)).toBeLessThanOrEqual(0.2);
  });

  it('keeps its keys, and draws others, while its weight rises', () => {
    const of = keys(2_000);
    const drawn = [1, 5, 25, 50, 99].map(
      (canary) =>
        new Set(of.filter((key) => trackOfKey(key, weightsOf({ stable: 100 - canary, canary })) === 'canary')),
    );
    for (const [step, fewer] of drawn.slice(0, -1).entries()) {
      expect(fewer.isSubsetOf(drawn[step + 1] as Set<string>)).toBe(true);
    }
    expect(drawn.at(-1)?.size).toBeGreaterThan(1_900);
  });

  it('that is gone leaves the keys of the others where they are', () => {
    const with3 = weightsOf({ stable: 80, canary: 10, baseline: 10 });
    const with2 = weightsOf({ stable: 80, canary: 10 });
    const moved = keys(2_000).filter((key) => trackOfKey(key, with3) !== trackOfKey(key, with2));
    expect(moved.length).toBeGreaterThan(100);
    for (const key of moved) expect(trackOfKey(key, with3)).toBe('baseline');
  });

  it('of a key is the same in every process', () => {
    const tracks = ['a', 'b', 'c', 'd'].map((key) => trackOfKey(key, weightsOf({ blue: 1, green: 1 })));
    expect(tracks).toMatchInlineSnapshot(`
      [
        "green",
        "blue",
        "green",
        "blue",
      ]
    `);
  });
});
