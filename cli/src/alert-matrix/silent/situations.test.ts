import { describe, expect, it } from 'vitest';
import { durationOf, passesOf, planSituations, suspendedMs } from './situations.ts';

const MINUTE = 60_000;
const named = (name: string, knee?: number) => {
  const [only] = planSituations({ only: [name], scale: 1, knee }).situations;
  if (only === undefined) throw new Error(`no ${name}`);
  return only;
};

it('has every situation once, and takes about two hours', () => {
  const { situations, leftOut } = planSituations({ scale: 1, knee: 100 });
  const names = situations.map(({ name }) => name);
  expect(names).toEqual([
    'steady',
    'declines',
    'spike',
    'ramp',
    'rolling restarts',
    'cold start',
    'idle',
    'low traffic',
    'counter resets',
    'suspended',
  ]);
  expect(leftOut).toEqual([]);
  const hours = situations.reduce((sum, one) => sum + durationOf(one), 0) / (60 * MINUTE);
  expect(hours).toBeGreaterThan(1.8);
  expect(hours).toBeLessThan(2.3);
});

it('leaves the ramp out without a knee, and says so', () => {
  const { situations, leftOut } = planSituations({ scale: 1 });
  expect(situations.map(({ name }) => name)).not.toContain('ramp');
  expect(leftOut).toEqual(['ramp']);
  expect(planSituations({ only: ['idle'], scale: 1 }).leftOut).toEqual([]);
});

it.each([[['ramp']], [['idle', 'ramp']]])('refuses %s without a knee: it would be left out', (only) => {
  expect(() => planSituations({ only, scale: 1 })).toThrow(
    expect.objectContaining({ code: 'invalid_usage', exitCode: 2, message: expect.stringContaining('--knee') }),
  );
});

it('ramps up to 0.8 of the knee', () => {
  const rates = named('ramp', 50).parts.map(({ rate }) => rate);
  expect(rates).toEqual(rates.toSorted((a, b) => a - b));
  expect(rates.at(-1)).toBe(40);
});

it('suspends the platform for 10 minutes, with orders before and after', () => {
  const { parts } = named('suspended');
  expect(suspendedMs(named('suspended'))).toBe(10 * MINUTE);
  expect(parts.map(({ rate }) => rate > 0)).toEqual([true, false, true]);
});

describe('a scale', () => {
  const lengths = (name: string, scale: number) => {
    return planSituations({ only: [name], scale }).situations[0]?.parts.map(({ forMs }) => forMs);
  };

  it('shortens what is long', () => {
    expect(lengths('suspended', 0.1)).toEqual([10_000, MINUTE, 12_000]);
  });

  it('makes no part shorter than the windows of the fast rules', () => {
    expect(lengths('spike', 0.01)).toEqual([10_000, 10_000, 10_000]);
  });
});

it('names the nearest situation where there is none', () => {
  expect(() => planSituations({ only: ['spik'], scale: 1 })).toThrow(
    expect.objectContaining({ code: 'unknown_situation', exitCode: 2, message: expect.stringContaining('"spike"') }),
  );
});

describe('passes', () => {
  const namesOf = (only: readonly string[], platforms: number, knee?: number) =>
    passesOf(planSituations({ only, scale: 1, knee }).situations, platforms).map((pass) => ({
      names: pass.situations.map(({ name }) => name),
      platforms: pass.platforms,
    }));

  it('have what needs the machine at the end, on one platform', () => {
    expect(namesOf(['spike', 'idle', 'ramp', 'steady'], 4, 100)).toEqual([
      { names: ['steady', 'idle'], platforms: 2 },
      { names: ['spike', 'ramp'], platforms: 1 },
    ]);
  });

  it('share the machine up to the rate of the other situations', () => {
    expect(namesOf(['ramp', 'idle'], 4, 12)).toEqual([{ names: ['ramp', 'idle'], platforms: 2 }]);
  });

  it('are none for no situation', () => {
    expect(passesOf([], 4)).toEqual([]);
  });
});
