import type { OrdersTolerance } from '../../format/schema.ts';
import type { LoggedOrder } from '../order-log.ts';
import type { RunContext } from '../run-context.ts';
import type { Aspect } from './aspect.ts';

const POLL_MS = 250;
const LISTED = 5;
/** Longer than any response of a shop that works; the next look may come to another instance. ms. */
const GET_LIMIT_MS = 2_000;
/** A status that was reported once stays; `order.status-flip` finds one that does not. */
const FINAL: readonly string[] = ['Confirmed', 'Cancelled'];

/**
 * Asks for each order, as its client would, until all have the status or the time is over. An order whose response was
 * lost is found by its idempotency key; one without a key cannot be found, which is unknown.
 */
export async function checkEventually(
  orders: readonly LoggedOrder[],
  { status, within }: NonNullable<OrdersTolerance['eventually']>,
  context: RunContext,
): Promise<Aspect> {
  const { clock, signal } = context;
  const expected = `all ${status} within ${within} ms`;
  const began = clock.now();
  let states: readonly string[] = [];
  for (;;) {
    states = await Promise.all(
      orders.map((order, index) => {
        const known = states[index];
        return known !== undefined && FINAL.includes(known) ? known : look(order, context);
      }),
    );
    const missing = states.filter((state) => state === 'unknown').length;
    const wrong = states.filter((state) => state !== status && state !== 'unknown').length;
    if (missing === 0 && wrong === 0) {
      return { verdict: 'pass', expected, observed: `all ${status} after ${Math.round(clock.now() - began)} ms` };
    }
    if (clock.now() - began >= within) {
      const others = orders.flatMap(({ op }, index) =>
        states[index] === status ? [] : [`order ${op}: ${states[index]}`],
      );
      return {
        verdict: wrong > 0 ? 'fail' : 'unknown',
        expected,
        observed: `${wrong} are not ${status}${missing > 0 ? `, ${missing} could not be looked up` : ''}`,
        evidence: others.slice(0, LISTED).join('\n'),
      };
    }
    await clock.sleep(POLL_MS, signal);
  }
}

/** The order's status now; `unknown` when it cannot be asked for, other words when it has none. */
async function look(order: LoggedOrder, context: RunContext): Promise<string> {
  const id = order.response?.orderId ?? (await findByKey(order, context));
  if (id === undefined) return 'unknown';
  if (id === null) return 'not there';
  const { gatewayUrl } = context.platform.connection;
  try {
    const response = await fetch(`${gatewayUrl}/api/orders/${id}`, { signal: AbortSignal.timeout(GET_LIMIT_MS) });
    const body = (await response.json()) as { status?: string };
    if (response.status === 404) return 'not there';
    if (response.status !== 200 || body.status === undefined) return `HTTP ${response.status}`;
    context.orders.recordStatus(id, body.status);
    return body.status;
  } catch {
    // The gateway or a service behind it is unavailable: probed again until the time is over.
    return 'unknown';
  }
}

/** Null when no order has this key; undefined when it is not known. */
async function findByKey(
  { key }: LoggedOrder,
  { platform: { databases } }: RunContext,
): Promise<string | null | undefined> {
  if (key === undefined) return undefined;
  try {
    const rows = await databases.query<{ id: string }>(
      'orders',
      'SELECT id::text FROM orders WHERE idempotency_key = $1',
      [key],
    );
    return rows[0]?.id ?? null;
  } catch {
    return undefined; // The database is unavailable: probed again until the time is over.
  }
}
