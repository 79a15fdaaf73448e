import type { Scope } from '../../chaos/fault.ts';

/** A fault with parameters that make sense, ready to be aimed. */
export interface FaultPreset {
  /** Name in the catalog. */
  readonly fault: string;
  readonly scope: Scope;
  readonly label: string;
  readonly title: string;
  /** Times in ms, rates in KB/s. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Orders one can place with a key. */
export interface OrderPreset {
  readonly label: string;
  readonly productId: number;
  readonly quantity: number;
}

export const orderPresets: readonly OrderPreset[] = [
  { label: 'one unit of product 1: is confirmed', productId: 1, quantity: 1 },
  { label: 'one unit of product 12: too expensive, payment is declined', productId: 12, quantity: 1 },
  { label: '1,000 units of product 10: out of stock', productId: 10, quantity: 1_000 },
];

/** Orders per second of a load. */
export const loadRates: readonly number[] = [1, 2, 5, 10, 20, 50];

/** How long a fault or a load lasts, ms; the first choice is `usualSpan`. */
export const spans: readonly number[] = [15_000, 30_000, 60_000, 120_000, 300_000, 600_000];
export const usualSpan = 2;
