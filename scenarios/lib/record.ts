/** One request that placed an order, or tried to, as its client saw it: a line of JSON on the console of k6. */
export interface OrderRecord {
  readonly phase: string;
  /** Of the iteration in its phase, from 0 on. */
  readonly index: number;
  /** Idempotency-Key; begins with the run's id. */
  readonly key: string;
  /** When it was sent, ms since 1970. */
  readonly at: number;
  readonly tookMs: number;
  /** HTTP status; 0 without a response. */
  readonly http: number;
  /** Kind of the order template: `confirmed`, `declined`, `out of stock` or `invalid`. */
  readonly kind: string;
  readonly distinctProducts: number;
  /** The response is the one that a healthy system gives. */
  readonly expected: boolean;
  /** The request opened its connection; otherwise one that was kept. */
  readonly opened: boolean;
  /** The first request of its key. */
  readonly isFirst: boolean;
  readonly orderId?: string | undefined;
  readonly status?: string | undefined;
  readonly reason?: string | undefined;
  /** Of a problem; without a response `timeout` or `unreachable`. */
  readonly code?: string | undefined;
  readonly traceId?: string | undefined;
}
