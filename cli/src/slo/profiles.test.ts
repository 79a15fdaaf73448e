import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../platform/project.ts';
import { findSlo, readSlos } from './catalog.ts';
import { isLongEnough, knownWindows, profiles } from './profiles.ts';
import { secondsToFire, sloSeries, windowsOf } from './series.ts';
import { windowMs, writeWindow } from './window.ts';

const slos = await readSlos(cloneRoot());
const availability = findSlo(slos, 'orders-availability');

describe('profiles', () => {
  it.each(Object.values(profiles))('$name has windows that are long enough to be scraped five times', (profile) => {
    const short = knownWindows().filter((window) => !isLongEnough(profile.windowFor(window) ?? '', profile));
    expect(short).toEqual([]);
  });

  it('laptop keeps the order of windows', () => {
    const ms = knownWindows().map((window) => windowMs(profiles.laptop.windowFor(window) ?? '') ?? 0);
    expect(ms).toEqual(ms.toSorted((a, b) => a - b));
  });
});

describe('windows', () => {
  it.each([
    ['10s', 10_000],
    ['5m', 300_000],
    ['30d', 2_592_000_000],
    ['0s', undefined],
    ['1h30m', undefined],
    ['5', undefined],
  ])('%s is %s ms', (text, ms) => {
    expect(windowMs(text)).toBe(ms);
    if (ms !== undefined) expect(windowMs(writeWindow(ms))).toBe(ms);
  });
});

describe('the SLOs of the clone', () => {
  it('are the four that docs/slos.md explains', () => {
    expect(slos.map(({ name }) => name)).toEqual([
      'orders-availability',
      'orders-latency',
      'queue-age',
      'shipments-freshness',
    ]);
    expect(() => findSlo(slos, 'orders-latncy')).toThrow('did you mean "orders-latency"?');
  });

  it('have series and numbers for commands', () => {
    expect(sloSeries(availability, profiles.laptop)).toMatchObject({
      slo: 'orders-availability',
      objective: 0.995,
      budget: 0.005,
      window: '1h',
      attained: 'slo:attained{slo="orders-availability"}',
      budgetLeft: 'slo:budget_left{slo="orders-availability"}',
      burnNow: 'slo:burn_now{slo="orders-availability"}',
      alerts: [
        { alert: 'OrdersErrorBudgetBurn', burn: 'fast', threshold: 14.4, long: '1m', short: '10s' },
        { alert: 'OrdersErrorBudgetBurn', burn: 'slow', threshold: 6, long: '5m', short: '1m' },
        { alert: 'OrdersErrorBudgetBurn', burn: 'steady', threshold: 1, long: '15m', short: '5m' },
      ],
    });
    expect(windowsOf(availability, profiles.production)).toEqual(['5m', '30m', '1h', '6h', '3d']);
  });

  it.each([
    [1, 4.3],
    [0.2, 21.6],
    [0.1, 43.2],
    [0.07, Number.POSITIVE_INFINITY],
  ])('a share of %s bad requests fires the fast burn after %s s on a laptop', (share, seconds) => {
    const fast = availability.alerts[0]?.burns[0];
    if (fast === undefined) throw new Error('no burn');
    expect(secondsToFire(share, fast, availability, profiles.laptop)).toBeCloseTo(seconds, 1);
  });
});
