import { STATUSES, type Status } from '../../audit/invariants/metrics.ts';
import { messageOf } from '../../errors.ts';
import type { PlaceAnswer } from '../../shop/gateway-client.ts';
import { type Check, EvidenceMissing, expectThat } from '../check.ts';
import type { VerifyContext } from '../context.ts';
import { type CounterReading, readCounters } from '../counters.ts';
import { until } from '../until.ts';

/** An order is counted right after the statement that decided it was answered; reports come every second. In ms. */
const COUNTING_MS = 250;
const LIMIT_MS = 5_000;

/**
 * The counter and the histogram moved by the orders that were decided in the same window, this run's among them. Others
 * may order meanwhile: the database's own count is what they are compared with.
 */
export const metrics: Check = {
  id: 'metrics',
  title: 'the metrics moved with the orders',
  async run(context) {
    const before = await context.before.catch((error: unknown) => {
      throw new EvidenceMissing(`the counters could not be read before the first order: ${messageOf(error)}`);
    });
    const own = await ownDecisions(context);
    const decidedBy = Date.now();
    const after = await until(
      async () => {
        const reading = await readCounters(context.telemetry);
        return reading.oldest > decidedBy + COUNTING_MS ? reading : undefined;
      },
      { everyMs: 200, limitMs: LIMIT_MS, signal: context.signal },
    );
    if (after === undefined) throw new EvidenceMissing('orders has not reported its metrics since the last order');
    const window = await countDecided(context, before, after);
    for (const status of STATUSES) compare(status, { before, after, window, own: own[status] });
    const moved = STATUSES.map((status) => `${status} +${after.sagas[status] - before.sagas[status]}`);
    return `shop.sagas ${moved.join(', ')}, as many orders in the database, as many values in shop.saga.duration`;
  },
};

interface Comparison {
  readonly before: CounterReading;
  readonly after: CounterReading;
  readonly window: Readonly<Record<Status, { readonly fewest: number; readonly most: number }>>;
  /** Orders of this run. */
  readonly own: number;
}

function compare(status: Status, { before, after, window, own }: Comparison): void {
  const counted = after.sagas[status] - before.sagas[status];
  const recorded = after.durations[status] - before.durations[status];
  const { fewest, most } = window[status];
  const orders = fewest === most ? `${most}` : `${fewest} to ${most}`;
  const name = `{status=${status}}`;
  expectThat(counted >= Math.max(fewest, own) && counted <= most, {
    expected: `shop.sagas${name} +${orders}, this run's ${own} among them`,
    got: `+${counted}`,
  });
  expectThat(recorded === counted, { expected: `shop.saga.duration${name} +${counted}`, got: `+${recorded}` });
}

async function ownDecisions({ confirmed, declined, replayed }: VerifyContext): Promise<Record<Status, number>> {
  const answers = await Promise.allSettled([confirmed.answer(), declined.answer(), replayed.answer()]);
  const orders = new Map<string, Status>();
  for (const answer of answers) if (answer.status === 'fulfilled') note(answer.value, orders);
  const count = (status: Status) => [...orders.values()].filter((one) => one === status).length;
  return { Confirmed: count('Confirmed'), Cancelled: count('Cancelled') };
}

function note(answer: PlaceAnswer, orders: Map<string, Status>): void {
  if (answer.kind === 'decided') orders.set(answer.id, answer.status);
}

/** Orders decided between the two readings: those that both must hold, and those that they may. */
async function countDecided(
  { databases }: VerifyContext,
  before: CounterReading,
  after: CounterReading,
): Promise<Comparison['window']> {
  const rows = await databases.query<{ status: Status; fewest: number; most: number }>(
    'orders',
    `SELECT status, count(*) FILTER (WHERE decided_at > to_timestamp($2::float8 / 1000) AND decided_at <= to_timestamp($3::float8 / 1000))::int AS fewest,
       count(*)::int AS most
     FROM orders
     WHERE decided_at > to_timestamp($1::float8 / 1000) AND decided_at <= to_timestamp($4::float8 / 1000) GROUP BY status`,
    [before.oldest - COUNTING_MS, before.newest, after.oldest - COUNTING_MS, after.newest],
  );
  const none = { fewest: 0, most: 0 };
  const of = (status: Status) => rows.find((row) => row.status === status) ?? none;
  return { Confirmed: of('Confirmed'), Cancelled: of('Cancelled') };
}
