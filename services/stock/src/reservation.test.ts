import { describe, expect, it } from 'vitest';
import { KeyReusedError, mergeLines, type Reservation, type ReserveRequest, repeatOutcome } from './reservation.ts';

const request: ReserveRequest = {
  orderId: 'order-1',
  idempotencyKey: 'order-1:reserve',
  lines: [
    { productId: 7, quantity: 1 },
    { productId: 2, quantity: 3 },
    { productId: 7, quantity: 2 },
  ],
};

const existing = (change: Partial<Reservation> = {}): Reservation => ({
  orderId: 'order-1',
  state: 'reserved',
  reserveKey: 'order-1:reserve',
  lines: [
    { productId: 2, quantity: 3 },
    { productId: 7, quantity: 3 },
  ],
  insufficientProductIds: [],
  ...change,
});

describe('mergeLines', () => {
  it('adds up repeated products and orders them by id', () => {
    expect(mergeLines(request.lines)).toEqual(existing().lines);
  });
});

describe('a Reserve whose order is taken', () => {
  it('reserved -> the first outcome', () => {
    expect(repeatOutcome(request, existing())).toEqual({ outcome: 'reserved' });
  });

  it('insufficient -> the first outcome with its products', () => {
    const first = existing({ state: 'insufficient', insufficientProductIds: [7] });
    expect(repeatOutcome(request, first)).toEqual({ outcome: 'insufficient', productIds: [7] });
  });

  it('released, or a tombstone -> released', () => {
    expect(repeatOutcome(request, existing({ state: 'released' }))).toEqual({ outcome: 'released' });
    const tombstone = existing({ state: 'released', reserveKey: undefined, lines: [] });
    expect(repeatOutcome(request, tombstone)).toEqual({ outcome: 'released' });
  });

  it('is refused under another key, or with other lines', () => {
    expect(() => repeatOutcome(request, existing({ reserveKey: 'order-1:other' }))).toThrow(KeyReusedError);
    expect(() => repeatOutcome(request, existing({ lines: [{ productId: 2, quantity: 3 }] }))).toThrow(KeyReusedError);
  });
});
