import { PUBLISH_LIMIT_MS } from '../../audit/invariants/outbox.ts';
import { formatDuration } from '../../shared/duration.ts';
import { pollFor } from '../../shared/wait-until.ts';
import type { Check } from '../check.ts';
import { expectThat } from '../check-errors.ts';

/** The outbox is back at 0 after this run's order. What others order meanwhile may wait its own turn. */
export const outbox: Check = {
  id: 'outbox',
  name: 'the outbox is back at 0',
  async run({ databases, confirmed, signal }) {
    // Asked before the order is placed, the outbox would be empty for another reason. A failed order is reported
    // elsewhere.
    await confirmed.response().catch(() => undefined);
    const began = performance.now();
    const [start] = await databases.query<{ at: Date }>('orders', 'SELECT now() AS at');
    let unpublished = 0;
    const empty = await pollFor(
      async () => {
        const [row] = await databases.query<{ count: number }>(
          'orders',
          'SELECT count(*)::int AS count FROM outbox WHERE published_at IS NULL AND created_at <= $1',
          [start?.at],
        );
        unpublished = row?.count ?? 0;
        return unpublished === 0 ? true : undefined;
      },
      { everyMs: 100, limitMs: PUBLISH_LIMIT_MS, signal },
    );
    const waited = formatDuration(performance.now() - began);
    expectThat(empty === true, { expected: '0 unpublished events', observed: `${unpublished} after ${waited}` });
    return `0 unpublished events after ${waited}`;
  },
};
