import { mulberry32 } from '@shop/kit/mulberry32.ts';
import { expect, it } from 'vitest';
import { drawBinomial, drawPoisson } from './random.ts';

const DRAWS = 500;

it.each([
  ['few events', 3],
  ['many events', 1_900],
  ['more than are drawn one by one', 50_000],
])('draws %s of a Poisson process around their mean, and spread by its root', (_title, mean) => {
  const random = mulberry32(1);
  const draws = Array.from({ length: DRAWS }, () => drawPoisson(random, mean));
  expectLike(draws, mean, mean);
});

it.each([
  ['few', 1_000, 0.003],
  ['many', 100_000, 0.3],
  ['most', 100_000, 0.97],
])('draws %s of its trials, spread as a binomial', (_title, trials, chance) => {
  const random = mulberry32(2);
  const draws = Array.from({ length: DRAWS }, () => drawBinomial(random, trials, chance));
  expectLike(draws, trials * chance, trials * chance * (1 - chance));
});

/** Within five standard errors. */
function expectLike(draws: readonly number[], mean: number, variance: number): void {
  const average = draws.reduce((sum, one) => sum + one, 0) / DRAWS;
  const spread = draws.reduce((sum, one) => sum + (one - average) ** 2, 0) / DRAWS;
  expect(Math.abs(average - mean)).toBeLessThan(5 * Math.sqrt(variance / DRAWS));
  expect(spread / variance).toBeGreaterThan(0.6);
  expect(spread / variance).toBeLessThan(1.5);
  for (const draw of draws) expect(Number.isSafeInteger(draw) && draw >= 0).toBe(true);
}
