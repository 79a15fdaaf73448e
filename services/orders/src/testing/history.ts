import type { Fault, Outage } from './faults.ts';

/** What a client orders, and when. */
export interface ClientOrder {
  readonly atMs: number;
  readonly productId: number;
  readonly quantity: number;
  /** With a key the client asks again until it knows how its order ended. */
  readonly withKey: boolean;
}

/** One history: what clients ask for and what goes wrong. All of it ends, and then the world must converge. */
export interface History {
  readonly instances: number;
  readonly orders: readonly ClientOrder[];
  readonly faults: readonly Fault[];
  readonly outages: readonly Outage[];
}
