import { count, isOverdue, NOTHING, type OrderInvariant, violated } from '../invariant.ts';

/** How long a saga may take, its compensations and recovery included, in ms (source: I1 of the fault catalogue). */
const SAGA_LIMIT_MS = 30_000;

/** I1: every order ends as Confirmed or Cancelled, and no saga stays open. */
export const terminal: OrderInvariant = {
  id: 'I1',
  title: 'every order has ended',
  needs: ['orders'],
  start(clock) {
    const tally = { orders: 0, Confirmed: 0, Cancelled: 0, open: 0 };
    return {
      add({ order }) {
        if (order === undefined) return NOTHING;
        tally.orders++;
        if (order.open) {
          tally.open++;
          const since = order.decidedAt ?? order.createdAt;
          if (!isOverdue(clock, since, SAGA_LIMIT_MS)) return { violations: [], inFlight: true };
          return violated('stuck', `saga is ${order.state} for ${Math.round((clock.at - since) / 1000)} s`);
        }
        if (order.status === null || order.state !== order.status) {
          return violated('wrong', `saga ended as ${order.state}, but the status is ${order.status ?? 'not set'}`);
        }
        tally[order.status]++;
        return NOTHING;
      },
      evidence: () =>
        `${count(tally.orders)} orders: ${count(tally.Confirmed)} Confirmed, ${count(tally.Cancelled)} Cancelled, ${count(tally.open)} open`,
    };
  },
};
