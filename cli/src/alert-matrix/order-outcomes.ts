import { LATE_SHIPMENT_MS, SLOW_RESPONSE_MS } from '../slo/limits.ts';
import type { Second, Shipments } from './customers.ts';

/** An order of the load as its client knows it. */
export interface OrderOutcome {
  /** Wall clock, ms since 1970. */
  readonly sentAt: number;
  readonly tookMs: number;
  /** 0: no response. */
  readonly http: number;
  readonly id?: string;
  readonly status?: 'Confirmed' | 'Cancelled';
  readonly reason?: string;
}

/** As the SLO orders-availability: 4xx are the client's own, declined and out of stock are the shop's business. Pure. */
export function isCounted({ http }: OrderOutcome): boolean {
  return http < 400 || http >= 500;
}

/** Pure. */
export function isFailed({ http, status, reason = '' }: OrderOutcome): boolean {
  if (http === 0 || http >= 500) return true;
  return status === 'Cancelled' && reason.endsWith('unavailable');
}

/** By the second in which the response came, or was given up. Pure. */
export function secondsOf(outcomes: readonly OrderOutcome[], startedAt: number): readonly Second[] {
  const seconds: [number, number, number, number][] = [];
  for (const outcome of outcomes) {
    const index = Math.max(0, Math.floor((outcome.sentAt + outcome.tookMs - startedAt) / 1_000));
    while (seconds.length <= index) seconds.push([0, 0, 0, 0]);
    const second = seconds[index] as [number, number, number, number];
    second[0]++;
    if (isCounted(outcome)) second[1]++;
    if (isFailed(outcome)) second[2]++;
    if (outcome.tookMs > SLOW_RESPONSE_MS) second[3]++;
  }
  return seconds;
}

/** A confirmed order, and when its client had the response; wall clock, ms. */
export interface ConfirmedOrder {
  readonly id: string;
  readonly at: number;
}

/** Pure. */
export function confirmedIn(outcomes: readonly OrderOutcome[]): readonly ConfirmedOrder[] {
  return outcomes.flatMap(({ id, status, sentAt, tookMs }) =>
    id !== undefined && status === 'Confirmed' ? [{ id, at: sentAt + tookMs }] : [],
  );
}

/** `shippedAt` by order; wall clock, ms. Pure. */
export function shipmentsOf(confirmed: readonly ConfirmedOrder[], shippedAt: ReadonlyMap<string, number>): Shipments {
  const isLate = ({ id, at }: ConfirmedOrder) => (shippedAt.get(id) ?? at) - at > LATE_SHIPMENT_MS;
  return {
    confirmed: confirmed.length,
    late: confirmed.filter(isLate).length,
    missing: confirmed.filter(({ id }) => !shippedAt.has(id)).length,
  };
}

/** Until when every shipment has to be there; wall clock, ms. Pure. */
export function shippedUntil(confirmed: readonly ConfirmedOrder[]): number {
  return confirmed.reduce((latest, { at }) => Math.max(latest, at), 0) + LATE_SHIPMENT_MS;
}
