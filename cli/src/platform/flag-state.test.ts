import { offDefinition, parseFlagFile } from '@shop/kit/flag-file.ts';
import { createFlagProvider } from '@shop/kit/flag-provider.ts';
import { describe, expect, it } from 'vitest';
import { describeReach, reachOf, withPercent, withValue } from './flag-state.ts';

/* Goal: what the command writes for a share is what services evaluate. */

const name = 'publish-order-confirmed-v2';
/** The same in each run, and as long as the id of an order. */
const keys = Array.from({ length: 20_000 }, (_, index) => `7c9e6679-7425-40de-944b-${String(index).padStart(12, '0')}`);
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

async function onKeys(percent: number): Promise<ReadonlySet<string>> {
  const provider = createFlagProvider();
  const text = JSON.stringify({ flags: { [name]: withPercent(offDefinition, percent) } });
  provider.load(parseFlagFile(text));
  const on = new Set<string>();
  for (const targetingKey of keys) {
    const { value } = await provider.resolveBooleanEvaluation(name, false, { targetingKey }, silent);
    if (value) on.add(targetingKey);
  }
  return on;
}

describe('a share of the orders', () => {
  it.each([0.5, 1, 5, 50])('of %d % is that of 20,000 keys within 0.5 points', async (percent) => {
    const share = (100 * (await onKeys(percent)).size) / keys.length;
    expect(Math.abs(share - percent)).toBeLessThan(0.5);
  });

  it('contains every smaller one: raising it only adds orders, in whole percents and in fractions of one', async () => {
    let smaller = await onKeys(0);
    expect(smaller.size).toBe(0);
    for (const percent of [0.125, 0.5, 1, 2.5, 5, 20, 33.333, 50, 99.5, 100]) {
      const larger = await onKeys(percent);
      expect(smaller.difference(larger).size, `${percent} %`).toBe(0);
      expect(larger.size, `${percent} %`).toBeGreaterThan(smaller.size);
      smaller = larger;
    }
    expect(smaller.size).toBe(keys.length);
  });

  it('is read back as it was written', () => {
    for (const percent of [0.001, 0.125, 5, 33.333, 99.999]) {
      const reach = reachOf(withPercent(offDefinition, percent));
      expect(describeReach(reach)).toBe(`${percent} %`);
    }
    expect(reachOf(withPercent(offDefinition, 0)).kind).toBe('off');
    expect(reachOf(withPercent(offDefinition, 100)).kind).toBe('on');
  });
});

describe('a flag written by hand', () => {
  it('keeps the names of its variants', () => {
    const flag = { ...offDefinition, variants: { no: false, yes: true }, defaultVariant: 'no' };
    expect(withValue(flag, true)).toEqual({ ...flag, defaultVariant: 'yes' });
    expect(withPercent(flag, 5).targeting).toEqual({
      fractional: [
        ['yes', 5],
        ['no', 95],
      ],
    });
  });

  it('is by its rules where they are more than one fractional of written weights', () => {
    const targeting = { fractional: [{ var: 'customer' }, ['on', 5], ['off', 95]] };
    expect(reachOf({ ...offDefinition, targeting }).kind).toBe('rules');
    expect(reachOf({ ...offDefinition, targeting: {} }).kind).toBe('off');
  });
});
