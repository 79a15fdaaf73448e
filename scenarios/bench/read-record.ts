import type { Connection } from './connections.ts';

/** A read of an order after the response that had its id, as its client saw it: a line of JSON on the console of k6. */
export interface ReadRecord {
  readonly read: Connection;
  /** The request opened its connection; otherwise one that was kept. */
  readonly opened: boolean;
  /** When it was sent, ms since 1970. */
  readonly at: number;
  readonly tookMs: number;
  /** HTTP status; 0 without a response. */
  readonly http: number;
  readonly orderId: string;
  /** Status of the order in the response that placed it. */
  readonly wanted?: string | undefined;
  readonly status?: string | undefined;
  /** Of a problem; without a response what happened instead. */
  readonly code?: string | undefined;
}
