import type { RunClock } from '../../shared/clock.ts';
import { startOpenLoop } from '../../shared/open-loop.ts';
import type { OrderRequest, PlaceResponse } from '../../shop/gateway-client.ts';
import { SLOW_RESPONSE_MS } from '../../slo/limits.ts';
import { rubric } from '../score/rubric.ts';
import { uniform } from '../seal/uniform.ts';

/** What a healthy shop does with an order. */
type OrderKind = 'confirmed' | 'declined' | 'out of stock' | 'invalid';

export interface CustomerOrder extends OrderRequest {
  readonly kind: OrderKind;
  readonly key: string;
}

/** What became of orders since the last time that was asked. */
export interface Counts {
  readonly sent: number;
  /** Responses that are what their order has to have. */
  readonly good: number;
  /** Other responses, and orders without any. */
  readonly failed: number;
  /** Refused because an operator sheds orders; left out where there are none. */
  readonly shed?: number;
  /** Of the good ones, those that took more than a second. */
  readonly slow: number;
}

export interface CustomersOptions {
  readonly seed: string;
  readonly clock: RunClock;
  /** Rejects where there is no response. */
  place(order: CustomerOrder): Promise<PlaceResponse>;
  onResponse(placed: PlacedOrder): void;
}

/** An order with its response, and what a customer makes of it. */
export interface PlacedOrder {
  readonly kind: OrderKind;
  readonly response: PlaceResponse;
  readonly outcome: 'good' | 'slow' | 'failed' | 'shed';
}

export interface Load {
  /** Times the usual rate. */
  readonly factor: number;
  readonly repeats: boolean;
}

export interface Customers {
  take(): Counts;
  /** All orders so far. */
  sent(): number;
  /**
   * Orders at the usual rate so far, and those of them that were sent more than 100 ms late. A higher load is there to
   * be too much for the machine, and the client is on it. That those are late says nothing against the round.
   */
  usual(): { readonly sent: number; readonly late: number };
  /** More orders from now on; `repeats`: a client sends an order that failed again. */
  setLoad(load: Load): void;
  /** Resolves when no order is in flight. */
  stop(): Promise<void>;
}

/** Orders a second. */
export const RATE = rubric.customers.ordersPerSecond;
const REPEAT_AFTER_MS = 1_000;
const MOST_REPEATS = 3;

/** Shares of all orders. The rest is confirmed, so that some cancelled orders are usual. */
const SHARES: readonly (readonly [OrderKind, number])[] = [
  ['declined', 0.08],
  ['out of stock', 0.05],
  ['invalid', 0.02],
];

const LINES: Readonly<Record<Exclude<OrderKind, 'confirmed'>, OrderRequest['lines']>> = {
  declined: [{ productId: 12, quantity: 1 }],
  'out of stock': [{ productId: 10, quantity: 1_000 }],
  invalid: [{ productId: 999_999, quantity: 1 }],
};

/** Well stocked, and affordable in one unit. */
const PRODUCTS = 9;

/** The n-th order of a seed. Pure. */
export function orderOf(seed: string, number: number): CustomerOrder {
  const at = uniform(seed, `kind ${number}`);
  let from = 0;
  const special = SHARES.find(([, share]) => {
    from += share;
    return at < from;
  });
  const kind = special?.[0] ?? 'confirmed';
  const productId = 1 + Math.floor(uniform(seed, `product ${number}`) * PRODUCTS);
  return {
    kind,
    key: `${seed}-${number}`,
    customer: `Customer ${1 + Math.floor(uniform(seed, `customer ${number}`) * 1_000)}`,
    lines: kind === 'confirmed' ? [{ productId, quantity: 1 }] : LINES[kind],
  };
}

/** Whether a response is what its order has to have. Pure. */
export function isExpected(kind: OrderKind, response: PlaceResponse): boolean {
  if (response.kind === 'problem') return kind === 'invalid' && response.problem.code === 'unknown_product';
  if (kind === 'confirmed') return response.status === 'Confirmed';
  if (kind === 'declined') return response.reason === 'payment declined';
  return kind === 'out of stock' && response.reason === 'out of stock';
}

const NONE: Counts = { sent: 0, good: 0, failed: 0, slow: 0 };

function outcomeOf(kind: OrderKind, response: PlaceResponse | undefined): PlacedOrder['outcome'] {
  if (response === undefined) return 'failed';
  if (response.kind === 'problem' && response.problem.code === 'order_shed') return 'shed';
  if (!isExpected(kind, response)) return 'failed';
  return response.tookMs > SLOW_RESPONSE_MS ? 'slow' : 'good';
}

/** Places orders at a rate, whatever becomes of them (open loop): a shop that slows down gets no fewer. */
export function startCustomers({ seed, clock, place, onResponse }: CustomersOptions): Customers {
  const over = new AbortController();
  let load: Load = { factor: 1, repeats: false };
  let counts = NONE;
  let sent = 0;
  const usual = { sent: 0, late: 0 };

  const add = (key: keyof Counts) => {
    counts = { ...counts, [key]: (counts[key] ?? 0) + 1 };
  };

  const send = async (order: CustomerOrder, repeat: number): Promise<void> => {
    add('sent');
    sent++;
    const response = await place(order).catch(() => undefined); // Counted as failed, whatever the reason is.
    const outcome = outcomeOf(order.kind, response);
    if (response !== undefined) onResponse({ kind: order.kind, response, outcome });
    if (outcome === 'slow') add('good');
    add(outcome);
    if (outcome !== 'failed') return;
    if (!load.repeats || repeat >= MOST_REPEATS || over.signal.aborted) return;
    await clock.sleep(REPEAT_AFTER_MS, over.signal).catch(() => undefined); // Stopped: checked next.
    if (!over.signal.aborted) await send(order, repeat + 1);
  };

  const loop = startOpenLoop({
    clock,
    signal: over.signal,
    gapMs: () => 1000 / (RATE * load.factor),
    send(index, isLate) {
      if (load.factor === 1) {
        usual.sent++;
        if (isLate) usual.late++;
      }
      return send(orderOf(seed, index + 1), 0);
    },
  });
  return {
    take() {
      const taken = counts;
      counts = NONE;
      return taken;
    },
    sent: () => sent,
    usual: () => ({ ...usual }),
    setLoad(wanted) {
      load = wanted;
    },
    async stop() {
      over.abort();
      await loop.done;
    },
  };
}
