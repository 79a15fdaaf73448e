import type { Saga } from '../saga/saga.ts';

/** A saga at its start, or wherever `changes` put it. */
export function aSaga(changes: Partial<Saga> = {}): Saga {
  return {
    orderId: '0b5b2f0e-7f0c-4f7e-9d56-3f1f4a3f7a10',
    lines: [{ productId: 1, quantity: 2, priceKopiykas: 10_000 }],
    totalKopiykas: 20_000,
    currency: 'UAH',
    state: 'Started',
    version: 1,
    reason: null,
    pending: [],
    attempts: 0,
    lastError: null,
    ...changes,
  };
}
