import { expect, it } from 'vitest';
import { timeLeftMs } from './measure.ts';

const HOUR_MS = 3_600_000;

it('what is left of a budget lasts for its share of the window, divided by the burn rate', () => {
  expect(timeLeftMs(1, 1, HOUR_MS)).toBe(HOUR_MS);
  expect(timeLeftMs(0.5, 1, HOUR_MS)).toBe(HOUR_MS / 2);
  expect(timeLeftMs(0.7, 3, HOUR_MS)).toBe(14 * 60_000);
});

it('a budget that is spent, or is not being spent, has no such time', () => {
  expect(timeLeftMs(0, 2, HOUR_MS)).toBeNull();
  expect(timeLeftMs(-0.5, 2, HOUR_MS)).toBeNull();
  expect(timeLeftMs(0.5, 0, HOUR_MS)).toBeNull();
  expect(timeLeftMs(null, 1, HOUR_MS)).toBeNull();
  expect(timeLeftMs(1, null, HOUR_MS)).toBeNull();
});
