import type { RunClock } from '../../shared/clock.ts';
import type { Journal } from '../journal.ts';
import type { OrderPhase } from '../journal-records.ts';

/** One order of a run, as its client knows it. */
export interface LoggedOrder {
  readonly op: number;
  readonly step: string;
  readonly phase: OrderPhase;
  readonly key: string | undefined;
  readonly lines: readonly { readonly productId: number; readonly quantity: number }[];
  /** On the run's clock, ms. */
  readonly invokedAt: number;
  /** Wall clock, ms since 1970. */
  readonly invokedTime: number;
  /** Undefined while it is in flight. */
  response?: OrderResponse;
}

/** The response to the client, or that there was none. */
export interface OrderResponse {
  /** `ok`: decided. `fail`: surely not placed. `info`: may or may not have happened. */
  readonly state: 'ok' | 'fail' | 'info';
  readonly http?: number | undefined;
  readonly orderId?: string | undefined;
  readonly status?: 'Confirmed' | 'Cancelled' | undefined;
  readonly reason?: string | undefined;
  /** Of a problem; without a response the transport's: `timeout`, `ECONNREFUSED`. */
  readonly code?: string | undefined;
  readonly traceId?: string | undefined;
  readonly tookMs: number;
}

export type Invocation = Pick<LoggedOrder, 'step' | 'key' | 'lines'>;

/** Every order of a run; each is journaled when it is sent and when its response is there. */
export class OrderLog {
  readonly orders: LoggedOrder[] = [];
  /** Ids with two different results: of a response, a repeat, or a later request. */
  readonly flipped = new Set<string>();
  readonly #statuses = new Map<string, string>();
  readonly #journal: Journal;
  readonly #clock: RunClock;
  readonly #phase: () => OrderPhase;

  constructor(journal: Journal, clock: RunClock, phase: () => OrderPhase) {
    this.#journal = journal;
    this.#clock = clock;
    this.#phase = phase;
  }

  /** The order is about to be sent. */
  invoke({ step, key, lines }: Invocation): LoggedOrder {
    const order: LoggedOrder = {
      op: this.orders.length + 1,
      step,
      phase: this.#phase(),
      key,
      lines,
      invokedAt: this.#clock.now(),
      invokedTime: this.#clock.date().getTime(),
    };
    this.orders.push(order);
    const [first] = lines;
    this.#journal.write({
      type: 'order',
      op: order.op,
      step,
      phase: order.phase,
      state: 'invoke',
      ...(key !== undefined && { key }),
      ...(first !== undefined && { product: first.productId, quantity: first.quantity }),
    });
    return order;
  }

  end(order: LoggedOrder, response: OrderResponse): void {
    order.response = response;
    if (response.orderId !== undefined && response.status !== undefined)
      this.recordStatus(response.orderId, response.status);
    const { state, tookMs, ...rest } = response;
    const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
    const { op, step, phase } = order;
    this.#journal.write({ type: 'order', op, step, phase, state, ...known, tookMs: Math.round(tookMs * 10) / 10 });
  }

  /** A client has learnt an order's result. */
  recordStatus(orderId: string, status: string): void {
    if ((this.#statuses.get(orderId) ?? status) !== status) this.flipped.add(orderId);
    this.#statuses.set(orderId, status);
  }

  ofStep(step: string): readonly LoggedOrder[] {
    return this.orders.filter((order) => order.step === step);
  }

  inFlight(): number {
    return this.orders.filter(({ response }) => response === undefined).length;
  }
}
