import { describe, expect, it } from 'vitest';
import { lowerTail, requestsToShow, upperBound, upperTail } from './binomial.ts';

describe('the requests that show a rate without a failure at 95 %', () => {
  it.each([
    [0.05, 59],
    [0.02, 149],
    [0.01, 299],
    [0.005, 598],
  ])('for less than %f are %i', (rate, requests) => {
    expect(requestsToShow(rate)).toBe(requests);
  });

  it('are more after failures, and for more confidence', () => {
    expect(requestsToShow(0.01, { bad: 1 })).toBe(473);
    expect(requestsToShow(0.01, { confidence: 0.99 })).toBe(459);
  });

  it.each([0, 1, -1, Number.NaN])('are none for a rate of %f', (rate) => {
    expect(() => requestsToShow(rate)).toThrow(RangeError);
  });
});

describe('a tail', () => {
  // The sum of the terms in fractions of whole numbers.
  it.each([
    [10, 3, 0.2, 0.3222004736],
    [150, 15, 0.013, 1.5968378026347146e-9],
    [1_000, 20, 0.02, 0.5306414635316526],
    [1_000, 60, 0.02, 1.8715005399092133e-13],
  ])('of %i trials with at least %i events of chance %f is %f', (trials, atLeast, chance, tail) => {
    expect(upperTail(trials, atLeast, chance) / tail).toBeCloseTo(1, 9);
    expect(upperTail(trials, atLeast, chance) + lowerTail(trials, atLeast - 1, chance)).toBeCloseTo(1, 12);
  });

  it('has its ends', () => {
    expect([upperTail(5, 0, 0.1), upperTail(5, 6, 0.1), upperTail(5, 1, 0), upperTail(5, 5, 1)]).toEqual([1, 0, 0, 1]);
  });
});

it('the bound of a rate is exact: 0 of 59 refute 5 %', () => {
  expect(upperBound(59, 0, 0.95)).toBeCloseTo(1 - 0.05 ** (1 / 59), 9);
  expect(upperBound(3, 3, 0.95)).toBe(1);
});
