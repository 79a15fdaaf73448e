import { formatDuration } from '../../shared/duration.ts';
import { pollFor } from '../../shared/wait-until.ts';
import type { Check } from '../check.ts';
import { expectThat } from '../check-errors.ts';
import { decided, describeResponse } from '../context.ts';

/** Polls at most 30 times: a shipment appears within 15 s. */
const POLL = { everyMs: 500, limitMs: 15_000 } as const;

/** An order that can be paid is Confirmed with 201, and one row appears in "Shipments" within 15 s. */
export const confirmed: Check = {
  id: 'confirmed',
  name: 'an order is confirmed and shipped',
  async run(context) {
    const expected = '201 Confirmed';
    const placed = await decided(context.confirmed, expected);
    expectThat(placed.httpStatus === 201 && placed.status === 'Confirmed', {
      expected,
      observed: describeResponse(placed),
    });
    const began = performance.now();
    const rows = await pollFor(
      async () => {
        const [row] = await context.databases.query<{ count: number }>(
          'shipping',
          'SELECT count(*)::int AS count FROM "Shipments" WHERE "OrderId" = $1',
          [placed.id],
        );
        return row === undefined || row.count === 0 ? undefined : row.count;
      },
      { ...POLL, signal: context.signal },
    );
    const waited = formatDuration(performance.now() - began);
    expectThat(rows === 1, {
      expected: 'one row in "Shipments" within 15 s',
      observed: `${rows ?? 0} rows after ${waited} (order ${placed.id})`,
    });
    return `201 Confirmed in ${formatDuration(placed.tookMs)}, one shipment ${waited} later`;
  },
};
