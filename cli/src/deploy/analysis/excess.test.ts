import { mulberry32 } from '@shop/kit/mulberry32.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ArmEvents, logExcess, logExcessWithoutBurst, logMeanExp } from './excess.ts';

const events = (canary: number, stable: number, share = 0.05): ArmEvents[] => [{ share, canary, stable }];

const someEvents = fc.array(
  fc.record({
    share: fc.double({ min: 0.001, max: 0.999, noNaN: true }),
    canary: fc.nat(100_000),
    stable: fc.nat(100_000),
  }),
  { maxLength: 6 },
);
const someTolerance = fc.double({ min: 1, max: 100, noNaN: true });

describe('evidence that an event is more likely at the canary', () => {
  it('is 1 before the first event', () => {
    expect(logExcess([], 1)).toBe(0);
    expect(logExcess(events(0, 0), 1)).toBe(0);
  });

  it('is, after one event, the mean of what each risk makes of it', () => {
    const bets = [2, 4, 8, 16, 64].map((risk) => (0.05 * risk) / (0.05 * risk + 0.95));
    const factors = [...bets, 0.999].map((bet) => bet / 0.05);
    expect(Math.exp(logExcess(events(1, 0), 1))).toBeCloseTo(factors.reduce((a, b) => a + b) / 6, 9);
  });

  it('reaches 125 with the second failure of a canary with 5 %, while stable has none', () => {
    expect(Math.exp(logExcess(events(1, 0), 1))).toBeLessThan(125);
    expect(Math.exp(logExcess(events(2, 0), 1))).toBeGreaterThan(125);
  });

  it('never falls with one more event at the canary, and never rises with one more at stable', () => {
    fc.assert(
      fc.property(someEvents, someTolerance, fc.nat(), (rows, tolerate, at) => {
        const before = logExcess(rows, tolerate);
        const plus = (key: 'canary' | 'stable') =>
          rows.map((row, index) => (index === at % rows.length ? { ...row, [key]: row[key] + 1 } : row));
        const rounding = 1e-9 * (1 + Math.abs(before));
        expect(logExcess(plus('canary'), tolerate)).toBeGreaterThanOrEqual(before - rounding);
        expect(logExcess(plus('stable'), tolerate)).toBeLessThanOrEqual(before + rounding);
      }),
    );
  });

  it('is a number for any counts', () => {
    fc.assert(
      fc.property(someEvents, someTolerance, (rows, tolerate) => {
        expect(logExcess(rows, tolerate)).not.toBeNaN();
        expect(Number.isFinite(logExcess(rows, tolerate))).toBe(true);
      }),
    );
  });

  it('is expected to be at most what it was, while the canary is as good as is tolerated', () => {
    fc.assert(
      fc.property(someEvents, someTolerance, fc.double({ min: 0, max: 1, noNaN: true }), (rows, tolerate, part) => {
        const share = 0.05;
        const risk = tolerate * part;
        const chance = (share * risk) / (share * risk + 1 - share);
        const small = rows.map((row) => ({ ...row, canary: row.canary % 5, stable: row.stable % 50 }));
        const now = logExcess(small, tolerate);
        const next = (canary: number, stable: number) =>
          Math.exp(logExcess([...small, { share, canary, stable }], tolerate) - now);
        expect(chance * next(1, 0) + (1 - chance) * next(0, 1)).toBeLessThanOrEqual(1 + 1e-9);
      }),
    );
  });

  it('reaches 1 / alpha in no more than alpha of rollouts of a good release, at any number of looks', () => {
    const random = mulberry32(18);
    const [runs, failures, alpha] = [4_000, 60, 0.01];
    let crossed = 0;
    for (let run = 0; run < runs; run += 1) {
      let [canary, stable] = [0, 0];
      for (let failure = 0; failure < failures; failure += 1) {
        if (random() < 0.05) canary += 1;
        else stable += 1;
        if (logExcess(events(canary, stable), 1) < -Math.log(alpha)) continue;
        crossed += 1;
        break;
      }
    }
    expect(crossed / runs).toBeLessThanOrEqual(alpha);
    expect(crossed).toBeGreaterThan(0);
  });
});

it('the mean of exponents that no number holds is their mean', () => {
  expect(logMeanExp([2_000, 2_000])).toBeCloseTo(2_000, 9);
  expect(logMeanExp([-2_000, 2_000])).toBeCloseTo(2_000 - Math.LN2, 9);
  expect(logMeanExp([Number.NEGATIVE_INFINITY])).toBe(Number.NEGATIVE_INFINITY);
});

describe('without a burst', () => {
  const at = (second: number, canary: number, stable: number) => ({ at: second * 1_000, share: 0.5, canary, stable });
  const burst = [at(1, 1, 1), at(5, 20, 0), at(6, 12, 0), at(9, 1, 2)];

  it('the evidence is that of the other moments', () => {
    expect(logExcess(burst, 1.25)).toBeGreaterThan(6);
    expect(logExcessWithoutBurst(burst, 1.25, 2_000)).toBeCloseTo(logExcess([at(1, 1, 1), at(9, 1, 2)], 1.25), 9);
  });

  it('it never exceeds that of all', () => {
    const moment = fc.record({ second: fc.nat(20), canary: fc.nat(30), stable: fc.nat(30) });
    fc.assert(
      fc.property(fc.array(moment, { maxLength: 12 }), (moments) => {
        const events = moments.map(({ second, canary, stable }) => at(second, canary, stable));
        expect(logExcessWithoutBurst(events, 1.25, 2_000)).toBeLessThanOrEqual(logExcess(events, 1.25));
      }),
    );
  });

  it('a canary that is slow all the time is found none the less', () => {
    const always = Array.from({ length: 25 }, (_, second) => at(second, 4, 1));
    expect(logExcessWithoutBurst(always, 1.25, 2_000)).toBeGreaterThan(6);
  });
});
