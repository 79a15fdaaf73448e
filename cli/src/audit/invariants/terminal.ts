import { formatCount } from '../../output/units.ts';
import type { OrderFact } from '../facts.ts';
import { isOverdue, NO_FINDINGS, type OrderInvariant, violated } from '../invariant.ts';

/** How long a saga may take, its compensations and recovery included, in ms (source: I1 of the fault catalog). */
const SAGA_LIMIT_MS = 30_000;

/** I1: every order ends as Confirmed or Cancelled, no saga stays open, and what a row says of its saga agrees. */
export const terminal: OrderInvariant = {
  id: 'I1',
  title: 'every order has ended',
  needs: ['orders'],
  start(clock) {
    const tally = { orders: 0, Confirmed: 0, Cancelled: 0, open: 0 };
    return {
      add({ order }) {
        if (order === undefined) return NO_FINDINGS;
        tally.orders++;
        if (order.open) tally.open++;
        else if (order.status !== null) tally[order.status]++;
        const contradiction = contradictionIn(order);
        if (contradiction !== undefined) return violated('wrong', contradiction);
        if (order.open) {
          const since = order.decidedAt ?? order.createdAt;
          if (!isOverdue(clock, since, SAGA_LIMIT_MS)) return { violations: [], inFlight: true };
          return violated('stuck', `saga is ${order.state} for ${Math.round((clock.at - since) / 1000)} s`);
        }
        return NO_FINDINGS;
      },
      evidence: () =>
        `${formatCount(tally.orders)} orders: ${formatCount(tally.Confirmed)} Confirmed, ${formatCount(tally.Cancelled)} Cancelled, ${formatCount(tally.open)} open`,
    };
  },
};

/** The database refuses such a row (decision 0028): a row that is there all the same was made past its constraints. */
function contradictionIn({ status, reason, state, open }: OrderFact): string | undefined {
  const isEnd = state === 'Confirmed' || state === 'Cancelled';
  const expected = isEnd ? state : state === 'Compensating' ? 'Cancelled' : null;
  if (status !== expected) return `saga is ${state}, but the status is ${status ?? 'not set'}`;
  if (open === isEnd) return `saga is ${state}, but marked as ${open ? 'open' : 'ended'}`;
  if (status === 'Cancelled') return reason === null ? 'Cancelled without a reason' : undefined;
  return reason === null ? undefined : `saga is ${state}, but has the reason "${reason}"`;
}
