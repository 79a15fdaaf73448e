import type { RunClock } from '../../shared/clock.ts';
import type { PlaceResponse } from '../../shop/gateway-client.ts';
import type { TraceSpan } from '../../trace/tree.ts';
import type { Scenario } from '../format/schema.ts';
import type { Evidence } from '../journal/records.ts';
import type { CustomerOrder } from './customers.ts';

export type Injection = Scenario['inject'][number];

/** Something that was injected. */
export interface Injected {
  /** The measurement that proves it, which may take seconds; undefined where none does. Settles before `revert` is called. */
  readonly witness: string | undefined | Promise<string | undefined>;
  /** Resolves when it is reverted and verified. Rejects with what is left. */
  revert(why: string): Promise<void>;
}

/** Orders whose effects are not what customers were promised. */
export interface OrderBalance {
  readonly lost: number;
  readonly doubled: number;
}

/** What a round acts and looks through. */
export interface DrillPorts {
  readonly clock: RunClock;
  place(order: CustomerOrder): Promise<PlaceResponse>;
  /** Confirmed orders among these that have no shipment yet. Rejects while that cannot be read. */
  unshipped(orderIds: readonly string[]): Promise<readonly string[]>;
  /** The value of an expression; undefined where there is none. Rejects while it cannot be read. */
  measure(query: string): Promise<number | undefined>;
  /** The spans of an order's trace that have arrived. Rejects while that cannot be read. */
  trace(traceId: string): Promise<readonly TraceSpan[]>;
  /** Pages and tickets that fire now. */
  firing(): readonly string[];
  inject(injection: Exclude<Injection, { readonly type: 'load' }>, ttlMs: number): Promise<Injected>;
  /** A harmless change, which is listed as one. */
  decoy(what: Scenario['decoys'][number]['do'], target: string): Promise<void>;
  /** Places an order as any client does, and compares its trace with its contract. */
  prove(): Promise<{ readonly status: string; readonly spans: number; readonly expectedSpans: number }>;
  balance(): Promise<OrderBalance>;
  /** What operators changed since the start is changed back. Resolves with what could not be. */
  restore(): Promise<readonly string[]>;
  /** The evidence of a reference; `sinceMs` is the start of the round, wall clock. Throws CliError (2) where it does not exist. */
  evidence(reference: string): Promise<Omit<Evidence, 'happenedMs'> & { readonly at: Date }>;
}
