import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canaryRequests, type Evidence, tally } from './evidence.ts';
import { someEvidence } from './testing/evidence.ts';

const line = (changes: Partial<Evidence> = {}): Evidence => ({
  at: 1_000,
  arm: 'canary',
  share: 0.05,
  requests: 10,
  bad: 0,
  slow: null,
  ...changes,
});

describe('a tally', () => {
  it('has the counts of both arms by the share at which requests were drawn', () => {
    const { shares } = tally([
      line({ share: 0.05, requests: 3, bad: 1 }),
      line({ share: 0.01, requests: 2, slow: 1 }),
      line({ share: 0.05, arm: 'stable', requests: 50, bad: 2, slow: 4, at: 9_000 }),
      line({ share: 0.05, requests: 4 }),
    ]);
    expect(shares).toEqual([
      {
        share: 0.01,
        canary: { requests: 2, bad: 0, slow: 1, timed: 2 },
        stable: { requests: 0, bad: 0, slow: 0, timed: 0 },
      },
      {
        share: 0.05,
        canary: { requests: 7, bad: 1, slow: 0, timed: 0 },
        stable: { requests: 50, bad: 2, slow: 4, timed: 48 },
      },
    ]);
    expect(canaryRequests({ shares })).toBe(9);
  });

  it('knows how long the canary has been bad, whatever stable was', () => {
    const lines = [
      line({ at: 5_000, bad: 1 }),
      line({ at: 1_000, arm: 'stable', bad: 1 }),
      line({ at: 3_000, bad: 2, slow: 1 }),
      line({ at: 9_000, slow: 0 }),
    ];
    expect(tally(lines)).toMatchObject({
      badSpanMs: 2_000,
      slowMoments: [{ at: 3_000, share: 0.05, canary: 1, stable: 0 }],
    });
  });

  it('leaves out what was not drawn: everything, or nothing, went to the canary', () => {
    expect(tally([line({ share: 1, bad: 1 }), line({ share: 0 })])).toEqual({
      shares: [],
      badSpanMs: 0,
      slowMoments: [],
    });
  });

  it('does not depend on the order of lines', () => {
    fc.assert(
      fc.property(
        someEvidence.chain((lines) =>
          fc.tuple(fc.constant(lines), fc.shuffledSubarray(lines, { minLength: lines.length })),
        ),
        ([lines, others]) => {
          expect(tally(others)).toEqual(tally(lines));
        },
      ),
    );
  });

  it.each([
    ['a share above 1', { share: 1.1 }],
    ['more failures than requests', { bad: 11 }],
    ['more failures and slow ones than requests', { bad: 5, slow: 6 }],
    ['half a request', { requests: 0.5 }],
    ['fewer than no failures', { bad: -1 }],
    ['no time', { at: Number.NaN }],
  ])('refuses %s', (_title, changes) => {
    expect(() => tally([line(changes)])).toThrow(RangeError);
  });
});
