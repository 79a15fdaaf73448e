import { expect, it } from 'vitest';
import type { OrderEvidence } from './order-evidence.ts';
import { sagaSteps } from './saga-steps.ts';
import { aCancelledOrder, anOrder, anOutboxRow, aPayment, aReservation, at, someEvidence } from './testing/stories.ts';

const names = (evidence: OrderEvidence) => sagaSteps(evidence).map(({ name, result }) => `${name}: ${result}`);

it('a confirmed order went through every step', () => {
  expect(names(someEvidence())).toEqual([
    'start order: done',
    'reserve stock: done',
    'charge payment: done',
    'confirm order: done',
    'publish order.confirmed: done',
    'deliver order.confirmed: done',
    'create shipment: done',
  ]);
});

it('a declined order was released', () => {
  const evidence = aCancelledOrder(
    { reason: 'payment declined' },
    { payment: aPayment({ state: 'declined' }), reservation: aReservation({ state: 'released', releasedAt: at(60) }) },
  );
  expect(names(evidence)).toEqual([
    'start order: done',
    'reserve stock: done',
    'charge payment: refused',
    'cancel order: done',
    'release stock: done',
  ]);
});

it('an order out of stock was never charged and has nothing to undo', () => {
  const evidence = aCancelledOrder(
    { reason: 'out of stock' },
    { reservation: aReservation({ state: 'insufficient', lines: [], insufficientProductIds: [10] }) },
  );
  expect(names(evidence)).toEqual(['start order: done', 'reserve stock: refused', 'cancel order: done']);
});

it('pending compensations wait and say why they failed', () => {
  const evidence = aCancelledOrder(
    {
      reason: 'payment unavailable',
      state: 'Compensating',
      open: true,
      pending: ['refund payment', 'release stock'],
      attempts: 2,
      lastError: 'orders-payments: timeout',
    },
    { payment: aPayment({ state: 'attempted' }) },
  );
  expect(names(evidence)).toEqual([
    'start order: done',
    'reserve stock: done',
    'charge payment: running',
    'cancel order: done',
    'refund payment: waiting',
    'release stock: waiting',
  ]);
  expect(sagaSteps(evidence).at(-1)?.detail).toBe('2 failed rounds: orders-payments: timeout');
});

it('tombstones had no effect', () => {
  const evidence = aCancelledOrder(
    { reason: 'stock unavailable' },
    {
      reservation: aReservation({ state: 'released', wasReserved: false, lines: [], releasedAt: at(90) }),
      payment: aPayment({ state: 'voided', amountKopiykas: null, currency: null }),
    },
  );
  expect(names(evidence)).toContain('reserve stock: no effect');
  expect(names(evidence)).toContain('charge payment: no effect');
});

it.each([
  ['Started', ['start order: done', 'reserve stock: running']],
  ['StockReserved', ['start order: done', 'reserve stock: done', 'charge payment: running']],
] as const)('an order in %s waits for its next step', (state, expected) => {
  const evidence = someEvidence({
    order: anOrder({ status: null, state, open: true, decidedAt: null }),
    reservation: state === 'Started' ? null : aReservation(),
    payment: null,
    outbox: [],
    inbox: [],
    shipment: null,
  });
  expect(names(evidence)).toEqual(expected);
});

it('a database without a response makes its steps unknown, not undone', () => {
  const unavailable = { stock: 'timeout', payments: 'timeout', shipping: 'timeout' };
  const evidence = someEvidence({ reservation: null, payment: null, inbox: [], shipment: null, unavailable });
  expect(names(evidence).filter((name) => name.endsWith('unknown'))).toEqual([
    'reserve stock: unknown',
    'charge payment: unknown',
    'deliver event: unknown',
    'create shipment: unknown',
  ]);
});

it.each([
  ['as the relay records it, right after its delivery', 400, 'outbox b1c2d3e4'],
  ['long after its delivery, was published again', 35_000, 'outbox b1c2d3e4, published again'],
])('an event published %s', (_, afterMs, expected) => {
  const evidence = someEvidence({ outbox: [anOutboxRow({ publishedAt: at(afterMs) })] });
  expect(sagaSteps(evidence).find(({ name }) => name.startsWith('publish'))?.detail).toBe(expected);
});

it('a charge that never arrived was not done', () => {
  expect(names(aCancelledOrder({ reason: 'payment unavailable' }))).toContain('charge payment: not done');
});
