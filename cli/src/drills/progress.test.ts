import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';
import { readScenarios } from './format/catalog.ts';
import type { PlayedRound } from './history.ts';
import { levelProgress, progressOf, weakWeights } from './progress.ts';

const scenarios = await readScenarios(cloneRoot());

let next = 0;
const aRound = (points: number | null, part: Partial<PlayedRound> = {}): PlayedRound => ({
  id: String(next++),
  level: 1,
  trainee: 'ada',
  points,
  ended: 'fixed',
  scenario: 'd101',
  components: ['network:orders-broker'],
  families: ['connection'],
  clocks: { symptomMs: 30_000, detectedMs: 40_000, endMs: 90_000 },
  isKnown: false,
  ...part,
});

describe('progress', () => {
  it('is the median of the last five rounds, by component and by family', () => {
    const rounds = [0, 80, 82, 84, 86, 88].map((points) => aRound(points));
    const shared = { rounds: 6, points: 84, detectedMs: 10_000, diagnosedMs: null, recoveredMs: null };
    expect(progressOf(rounds)).toEqual([
      { by: 'component', name: 'network:orders-broker', ...shared },
      { by: 'family', name: 'connection', ...shared },
    ]);
  });

  it('has no round that was known, void or aborted', () => {
    expect(progressOf([aRound(90, { isKnown: true }), aRound(null)])).toEqual([]);
  });
});

describe('a level', () => {
  it('is unlocked by three rounds of 70 points at the level below', () => {
    const good = [aRound(70), aRound(69), aRound(95)];
    expect(levelProgress(1, 'ada', [])).toEqual({ isUnlocked: true, missing: 0, rounds: 0, points: null });
    expect(levelProgress(2, 'ada', good)).toMatchObject({ isUnlocked: false, missing: 1 });
    expect(levelProgress(2, 'ada', [...good, aRound(71)])).toMatchObject({ isUnlocked: true, missing: 0 });
  });

  it('is not unlocked by known rounds, nor by those of another trainee or level', () => {
    const others = [aRound(99, { isKnown: true }), aRound(99, { trainee: 'bob' }), aRound(99, { level: 2 })];
    expect(levelProgress(2, 'ada', others)).toMatchObject({ missing: 3, rounds: 1, points: 99 });
  });
});

it('a weak family is up to five times as likely as one with all points', () => {
  const rounds = [aRound(0), aRound(100, { components: ['shipping'], families: ['availability'] })];
  const weights = weakWeights(scenarios, rounds);
  expect([weights.d101, weights.d103, weights.d301]).toEqual([5, 1, 3]);
});
