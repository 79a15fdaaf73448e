import { STATUSES, type Status } from '../../audit/invariants/metrics.ts';
import { messageOf } from '../../errors.ts';
import { pollFor } from '../../shared/wait-until.ts';
import type { PlaceResponse } from '../../shop/gateway-client.ts';
import type { Check } from '../check.ts';
import { EvidenceMissing, expectThat } from '../check-errors.ts';
import type { VerifyContext } from '../context.ts';
import { type CounterReading, readCounters } from '../counters.ts';

/** An order is counted right after the response of the statement that decided it; reports come every second. In ms. */
const COUNTING_MS = 250;
const LIMIT_MS = 5_000;
/**
 * A saga's time begins a moment before the row that it is compared with, and the row's clock is PostgreSQL's. It is
 * between half of it, and twice with this much for each order, ms. Seconds, microseconds or 0 are far outside.
 */
const SLACK_MS = 250;

/**
 * The counter and the histogram moved by the orders that were decided in the same window, this run's among them, and the
 * durations are those of the database's rows. Others may order meanwhile: the database is what they are compared with.
 */
export const metrics: Check = {
  id: 'metrics',
  name: 'the metrics moved with the orders',
  async run(context) {
    const before = await context.before.catch((error: unknown) => {
      throw new EvidenceMissing(`the counters could not be read before the first order: ${messageOf(error)}`);
    });
    const own = await ownDecisions(context);
    const decidedBy = Date.now();
    const after = await pollFor(
      async () => {
        const reading = await readCounters(context.telemetry);
        return reading.oldest > decidedBy + COUNTING_MS ? reading : undefined;
      },
      { everyMs: 200, limitMs: LIMIT_MS, signal: context.signal },
    );
    if (after === undefined) throw new EvidenceMissing('orders has not reported its metrics since the last order');
    const window = await countDecided(context, before, after);
    for (const status of STATUSES) compare(status, { before, after, window, own: own[status] });
    const sumMs = compareDurations(before, after, window);
    const moved = STATUSES.map((status) => `${status} +${after.sagas[status] - before.sagas[status]}`);
    return `shop.sagas ${moved.join(', ')}, as many orders in the database, as many values in shop.saga.duration, ${Math.round(sumMs)} ms together`;
  },
};

/** Orders decided between the two readings: those that both must hold, and those that they may; with their times. */
interface Decided {
  readonly fewest: number;
  readonly most: number;
  /** Of the fewest, and of the most, from their rows: ms. */
  readonly leastMs: number;
  readonly mostMs: number;
}

type Window = Readonly<Record<Status, Decided>>;

function compareDurations(before: CounterReading, after: CounterReading, window: Window): number {
  const sumMs = after.durationSumMs - before.durationSumMs;
  const total = (key: keyof Decided) => STATUSES.reduce((sum, status) => sum + window[status][key], 0);
  const least = total('leastMs') / 2;
  const most = total('mostMs') * 2 + total('most') * SLACK_MS;
  expectThat(sumMs >= least && sumMs <= most, {
    expected: `shop.saga.duration +${Math.round(least)} to +${Math.round(most)} ms, as the orders' rows say`,
    observed: `+${Math.round(sumMs * 1000) / 1000}`,
  });
  return sumMs;
}

interface Comparison {
  readonly before: CounterReading;
  readonly after: CounterReading;
  readonly window: Window;
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
    observed: `+${counted}`,
  });
  expectThat(recorded === counted, { expected: `shop.saga.duration${name} +${counted}`, observed: `+${recorded}` });
}

async function ownDecisions({ confirmed, declined, replayed }: VerifyContext): Promise<Record<Status, number>> {
  const responses = await Promise.allSettled([confirmed.response(), declined.response(), replayed.response()]);
  const orders = new Map<string, Status>();
  for (const response of responses) if (response.status === 'fulfilled') note(response.value, orders);
  const count = (status: Status) => [...orders.values()].filter((one) => one === status).length;
  return { Confirmed: count('Confirmed'), Cancelled: count('Cancelled') };
}

function note(response: PlaceResponse, orders: Map<string, Status>): void {
  if (response.kind === 'decided') orders.set(response.id, response.status);
}

async function countDecided(
  { databases }: VerifyContext,
  before: CounterReading,
  after: CounterReading,
): Promise<Window> {
  const rows = await databases.query<Decided & { status: Status }>(
    'orders',
    `WITH decided AS (
       SELECT status, (extract(epoch FROM decided_at - created_at) * 1000)::float8 AS ms,
         decided_at > to_timestamp($2::float8 / 1000) AND decided_at <= to_timestamp($3::float8 / 1000) AS surely
       FROM orders WHERE decided_at > to_timestamp($1::float8 / 1000) AND decided_at <= to_timestamp($4::float8 / 1000))
     SELECT status, count(*) FILTER (WHERE surely)::int AS fewest, count(*)::int AS most,
       coalesce(sum(ms) FILTER (WHERE surely), 0) AS "leastMs", sum(ms) AS "mostMs"
     FROM decided GROUP BY status`,
    [before.oldest - COUNTING_MS, before.newest, after.oldest - COUNTING_MS, after.newest],
  );
  const none = { fewest: 0, most: 0, leastMs: 0, mostMs: 0 };
  const of = (status: Status) => rows.find((row) => row.status === status) ?? none;
  return { Confirmed: of('Confirmed'), Cancelled: of('Cancelled') };
}
