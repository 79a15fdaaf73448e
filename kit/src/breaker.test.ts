import { expect, it } from 'vitest';
import { type BreakerState, createBreaker } from './breaker.ts';

const limits = { breakerFailures: 5, breakerFailingMs: 1_000, breakerHalfOpenAfterMs: 5_000 };

/** A breaker with a test clock, with attempts that end as soon as they are admitted. */
function aBreaker() {
  let time = 0;
  const states: BreakerState[] = [];
  const breaker = createBreaker(
    limits,
    (state) => states.push(state),
    () => time,
  );
  const attempt = (how: 'responded' | 'failed') => breaker.admit()?.[how]();
  /** `failed` of `of` attempts fail, evenly mixed and over this time. */
  const mix = (failed: number, of: number, forMs: number) => {
    for (let index = 0; index < of; index += 1) {
      attempt((index * failed) % of < failed ? 'failed' : 'responded');
      time += forMs / of;
    }
  };
  const pass = (ms: number) => {
    time += ms;
  };
  return { breaker, states, attempt, mix, pass };
}

it('opens when nothing but failures comes for a second', () => {
  const { breaker, mix } = aBreaker();
  mix(10, 10, 1_200);
  expect(breaker.state).toBe('open');
});

it('opens at a low rate too, with the fifth failure', () => {
  const { breaker, mix, attempt } = aBreaker();
  mix(4, 4, 8_000);
  expect(breaker.state).toBe('closed');
  attempt('failed');
  expect(breaker.state).toBe('open');
});

it('stays closed at a burst of failures, however large, when responses follow', () => {
  const { breaker, attempt, pass, mix } = aBreaker();
  mix(0, 100, 1_000);
  for (let index = 0; index < 500; index += 1) attempt('failed');
  pass(900);
  for (let index = 0; index < 3; index += 1) attempt('responded');
  pass(900);
  for (let index = 0; index < 500; index += 1) attempt('failed');
  expect(breaker.state).toBe('closed');
});

it.each([
  [1, 'closed'],
  [2, 'closed'],
  [5, 'closed'],
  [7, 'closed'],
  [9, 'open'],
  [10, 'open'],
])('%i of 10 attempts fail for a minute -> %s', (failed, state) => {
  const { breaker, mix } = aBreaker();
  for (let second = 0; second < 60 && breaker.state === 'closed'; second += 1) mix(failed, 10, 1_000);
  expect(breaker.state).toBe(state);
});

it('admits nothing for its pause, then one trial, and nothing beside it', () => {
  const { breaker, mix, pass, attempt, states } = aBreaker();
  mix(10, 10, 1_200);
  pass(limits.breakerHalfOpenAfterMs - 200);
  expect(breaker.admit()).toBeUndefined();
  pass(200);
  const trial = breaker.admit();
  expect(trial?.isTrial).toBe(true);
  expect([breaker.admit(), breaker.admit()]).toEqual([undefined, undefined]);
  trial?.failed();
  expect(breaker.admit()).toBeUndefined();
  pass(limits.breakerHalfOpenAfterMs);
  attempt('responded');
  expect(states).toEqual(['open', 'half-open', 'open', 'half-open', 'closed']);
});

it('is not changed by what was sent before it changed its state', () => {
  const { breaker, mix, pass } = aBreaker();
  const early = breaker.admit();
  mix(10, 10, 1_200);
  expect(early?.isCurrent()).toBe(false);
  early?.responded();
  expect(breaker.state).toBe('open');
  pass(limits.breakerHalfOpenAfterMs);
  const trial = breaker.admit();
  early?.failed();
  expect(breaker.state).toBe('half-open');
  trial?.responded();
  trial?.failed();
  expect(breaker.state).toBe('closed');
});

it('tries immediately when its pause is ended', () => {
  const { breaker, mix } = aBreaker();
  mix(10, 10, 1_200);
  breaker.endPause();
  expect(breaker.admit()?.isTrial).toBe(true);
});
