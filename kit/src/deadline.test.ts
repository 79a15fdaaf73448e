import { describe, expect, it } from 'vitest';
import { Deadline } from './deadline.ts';

describe('a deadline', () => {
  it('counts down in whole ms and ends at 0', () => {
    let now = 100;
    const deadline = Deadline.after(1_000.9, () => now);
    expect([deadline.remainingMs(), deadline.expired]).toEqual([1_000, false]);
    now = 1_100.5;
    expect([deadline.remainingMs(), deadline.expired]).toEqual([0, true]);
    now = 9_000;
    expect([deadline.remainingMs(), deadline.expired]).toEqual([0, true]);
  });

  it.each([
    ['250', 250],
    ['0', 0],
    ['9000', 9_000],
    ['9001', 9_000],
    ['99999999', 9_000],
    ['-5', 9_000],
    ['1.5', 9_000],
    ['soon', 9_000],
    ['', 9_000],
    [['250', '300'], 9_000],
    [undefined, 9_000],
  ])('of header %j under a limit of 9000 is in %i ms', (header, expected) => {
    const remaining = Deadline.fromHeader(header, 9_000).remainingMs();
    expect(remaining).toBeLessThanOrEqual(expected);
    expect(remaining).toBeGreaterThanOrEqual(Math.max(0, expected - 100));
  });
});
