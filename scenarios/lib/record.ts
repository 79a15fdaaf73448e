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
  /** 0 without an answer. */
  readonly http: number;
  readonly wish: string;
  readonly distinctProducts: number;
  /** The answer is the one that a healthy system gives. */
  readonly expected: boolean;
  /** The first request of its key. */
  readonly isFirst: boolean;
  readonly orderId?: string | undefined;
  readonly status?: string | undefined;
  readonly reason?: string | undefined;
  /** Of a problem; without an answer `timeout` or `unreachable`. */
  readonly code?: string | undefined;
  readonly traceId?: string | undefined;
}
