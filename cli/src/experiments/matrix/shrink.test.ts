import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shrink } from './shrink.ts';

/** A set of different numbers and failing parts of it. */
const aFailure = fc
  .uniqueArray(fc.integer({ min: 0, max: 99 }), { minLength: 1, maxLength: 14 })
  .chain((set) =>
    fc.tuple(fc.constant(set), fc.array(fc.subarray(set, { minLength: 1 }), { minLength: 1, maxLength: 3 })),
  );

const holdsAll = (part: readonly number[], cause: readonly number[]) => cause.every((one) => part.includes(one));

describe('shrinking', () => {
  it('finds exactly the cause when there is one', async () => {
    await fc.assert(
      fc.asyncProperty(aFailure, async ([set, [cause = []]]) => {
        const found = await shrink(set, async (part) => holdsAll(part, cause));
        expect(found.toSorted()).toEqual([...cause].sort());
      }),
    );
  });

  it('comes to a part that fails, and out of which nothing can be left', async () => {
    await fc.assert(
      fc.asyncProperty(aFailure, async ([set, causes]) => {
        const fails = (part: readonly number[]) => causes.some((cause) => holdsAll(part, cause));
        const found = await shrink(set, async (part) => fails(part));
        expect(fails(found)).toBe(true);
        for (const one of found) expect(fails(found.filter((other) => other !== one))).toBe(false);
      }),
    );
  });

  it('comes to such a part also when a larger one may pass where a smaller one fails', async () => {
    await fc.assert(
      fc.asyncProperty(aFailure, fc.func(fc.boolean()), async ([set], flips) => {
        const fails = (part: readonly number[]) =>
          part.length === set.length || (part.length > 0 && flips(part.toSorted().join()));
        const found = await shrink(set, async (part) => fails(part));
        expect(fails(found)).toBe(true);
        if (found.length > 1) {
          for (const one of found) expect(fails(found.filter((other) => other !== one))).toBe(false);
        }
      }),
    );
  });

  it('asks about no part twice, and neither about nothing nor about everything', async () => {
    await fc.assert(
      fc.asyncProperty(aFailure, async ([set, causes]) => {
        const asked: string[] = [];
        await shrink(set, async (part) => {
          asked.push(part.toSorted().join());
          return causes.some((cause) => holdsAll(part, cause));
        });
        expect(new Set(asked).size).toBe(asked.length);
        expect(asked).not.toContain('');
        expect(asked).not.toContain(set.toSorted().join());
      }),
    );
  });

  it('halves first: one of eight is found with six questions at the most', async () => {
    for (const cause of [1, 2, 3, 4, 5, 6, 7, 8]) {
      let questions = 0;
      const found = await shrink([1, 2, 3, 4, 5, 6, 7, 8], async (part) => {
        questions++;
        return part.includes(cause);
      });
      expect({ found, fewEnough: questions <= 6 }).toEqual({ found: [cause], fewEnough: true });
    }
  });
});
