import { formatDuration } from '../../shared/duration.ts';
import type { Check } from '../check.ts';
import { expectThat } from '../check-errors.ts';
import { decided, describeResponse } from '../context.ts';

/** An order above the payment limit is Cancelled with `payment declined` and status 200. */
export const declined: Check = {
  id: 'declined',
  name: 'an order above the limit is declined',
  async run(context) {
    const expected = '200 Cancelled (payment declined)';
    const placed = await decided(context.declined, expected);
    expectThat(describeResponse(placed) === expected, { expected, observed: describeResponse(placed) });
    return `${expected} in ${formatDuration(placed.tookMs)}`;
  },
};
