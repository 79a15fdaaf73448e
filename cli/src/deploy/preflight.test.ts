import { describe, expect, it } from 'vitest';
import { checkOrders, type Disturbed } from './preflight.ts';
import { tripped } from './trip.ts';

const disturbedBy = (why: string): Disturbed => ({ why, trip: tripped('trace-shape', why) });

/** Orders whose traces are found to be so, in the order in which they are checked; the others are as their contract. */
async function check(found: readonly (Disturbed | undefined)[]) {
  const placed: number[] = [];
  let checked = 0;
  const result = checkOrders({
    async place(number) {
      placed.push(number);
      return `trace ${number}`;
    },
    check: async () => found[checked++],
  });
  return { placed, checked: () => checked, result: await result };
}

describe('the orders of a preflight', () => {
  it('are five, each checked', async () => {
    const { placed, checked, result } = await check([]);
    expect(placed).toEqual([1, 2, 3, 4, 5]);
    expect(checked()).toBe(5);
    expect(result).toBeUndefined();
  });

  it('get one more in place of one that was disturbed, which is reported', async () => {
    const { placed, checked, result } = await check([undefined, disturbedBy('POST was repeated')]);
    expect(placed).toEqual([1, 2, 3, 4, 5, 6]);
    expect(checked()).toBe(6);
    expect(result?.why).toBe('POST was repeated');
  });

  it.each([
    ['another of the five', [disturbedBy('first'), undefined, disturbedBy('second')]],
    ['the one in its place', [disturbedBy('first'), undefined, undefined, undefined, undefined, disturbedBy('second')]],
  ])('trip when %s is disturbed as well', async (_title, found) => {
    await expect(check(found)).rejects.toMatchObject({ why: { guard: 'trace-shape', text: 'second' } });
  });
});
