import { describe, expect, it } from 'vitest';
import { checkOrders, type Disturbed } from './preflight.ts';
import { tripped } from './trip.ts';

const disturbedBy = (why: string): Disturbed => ({ why, trip: tripped('trace-shape', why) });

/** Orders whose traces are found to be so, in the order in which they are checked; the others are as their contract. */
async function check(found: readonly (Disturbed | undefined)[]) {
  const placed: string[] = [];
  let checked = 0;
  const result = checkOrders({
    async place(order, number) {
      placed.push(`${number} ${order}`);
      return `trace ${number}`;
    },
    check: async () => found[checked++],
  });
  return { placed, checked: () => checked, result: await result };
}

describe('the orders of a preflight', () => {
  const usual = [...[1, 2, 3, 4, 5].map((number) => `${number} confirmed`), '6 declined'];

  it('are five and one that is declined, each checked', async () => {
    const { placed, checked, result } = await check([]);
    expect(placed).toEqual(usual);
    expect(checked()).toBe(6);
    expect(result).toBeUndefined();
  });

  it('get one more in place of one that was disturbed, which is reported', async () => {
    const { placed, checked, result } = await check([undefined, disturbedBy('POST was repeated')]);
    expect(placed).toEqual([...usual, '7 confirmed']);
    expect(checked()).toBe(7);
    expect(result?.why).toBe('POST was repeated');
  });

  it('get another declined one in place of the declined one', async () => {
    const { placed } = await check([...Array(5).fill(undefined), disturbedBy('POST was repeated')]);
    expect(placed).toEqual([...usual, '7 declined']);
  });

  it.each([
    ['another of the six', [disturbedBy('first'), undefined, disturbedBy('second')]],
    ['the one in its place', [disturbedBy('first'), ...Array(5).fill(undefined), disturbedBy('second')]],
  ])('trip when %s is disturbed as well', async (_title, found) => {
    await expect(check(found)).rejects.toMatchObject({ why: { guard: 'trace-shape', text: 'second' } });
  });
});
