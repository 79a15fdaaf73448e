import { expect, it } from 'vitest';
import { diagnose } from './diagnosis.ts';
import { aCancelledOrder, anOrder, anOutboxRow, aPayment, aReservation, at, someEvidence } from './testing/stories.ts';

const notShipped = { inbox: [], shipment: null };

it('says how long after the order the shipment was created', () => {
  expect(diagnose(someEvidence())).toBe(
    'Confirmed: payments accepted 450.00 UAH and the shipment was created 340 ms after the order was placed.',
  );
});

it('says that an event waits in the outbox, and for how long', () => {
  const evidence = someEvidence({ ...notShipped, outbox: [anOutboxRow({ publishedAt: null })] });
  expect(diagnose(evidence)).toContain('order.confirmed has waited in the outbox for 4.97 s, so there is no shipment');
});

it('says that a published event has no shipment', () => {
  expect(diagnose(someEvidence(notShipped))).toContain('the event published 4.68 s ago has not reached shipping');
});

it('does not call a shipment missing when shipping gives no response', () => {
  const evidence = someEvidence({ ...notShipped, unavailable: { shipping: 'connection refused' } });
  expect(diagnose(evidence)).toContain('whether it was shipped is unknown');
});

it('says that an event of a shipped order is published again', () => {
  const evidence = someEvidence({ outbox: [anOutboxRow({ publishedAt: null })] });
  expect(diagnose(evidence)).toMatch(/shipment was created .*; order.confirmed waits to be published again\.$/);
});

it('names amount, limit and release of a declined order', () => {
  const evidence = aCancelledOrder(
    { reason: 'payment declined', totalKopiykas: 6_200_000 },
    { payment: aPayment({ state: 'declined' }), reservation: aReservation({ state: 'released', releasedAt: at(65) }) },
  );
  expect(diagnose(evidence)).toBe(
    'Cancelled because payments declined 62,000.00 UAH (limit 50,000.00 UAH); the reservation was released 35 ms later.',
  );
});

it('names the scarce product', () => {
  const evidence = aCancelledOrder(
    { reason: 'out of stock' },
    { reservation: aReservation({ state: 'insufficient', wasReserved: false, insufficientProductIds: [10] }) },
  );
  expect(diagnose(evidence)).toBe('Cancelled because stock has too little of product 10; nothing had to be undone.');
});

it('says what was undone when payments gave no response', () => {
  const evidence = aCancelledOrder(
    { reason: 'payment unavailable' },
    {
      payment: aPayment({ state: 'refunded', updatedAt: at(2_030) }),
      reservation: aReservation({ state: 'released', releasedAt: at(2_040) }),
    },
  );
  expect(diagnose(evidence)).toBe(
    'Cancelled because payments gave no clear response about 450.00 UAH; the payment was refunded 2.00 s later and the reservation was released 2.01 s later.',
  );
});

it('says what is still to be undone, after how many rounds, and when it is tried again', () => {
  const evidence = aCancelledOrder({
    reason: 'stock unavailable',
    state: 'Compensating',
    open: true,
    pending: ['release stock'],
    attempts: 4,
    lastError: 'orders-stock: timeout',
    nextAttemptAt: at(7_000),
  });
  expect(diagnose(evidence)).toBe(
    'Cancelled because stock gave no clear response (orders-stock: timeout); still to do after 4 failed rounds: release stock, next try in 2.00 s.',
  );
});

it('says that what was undone is unknown when the participants give no response', () => {
  const evidence = aCancelledOrder({ reason: 'payment declined' }, { unavailable: { stock: 'timeout' } });
  expect(diagnose(evidence)).toContain('what was undone is unknown: no response from stock');
});

it('says which instance owns an undecided order, and when none does', () => {
  const running = anOrder({ status: null, state: 'StockReserved', open: true, decidedAt: null });
  const orphaned = { ...running, owner: { ...running.owner, alive: false } };
  const decisions = { outbox: [], payment: null, ...notShipped };
  expect(diagnose(someEvidence({ ...decisions, order: running }))).toBe(
    'Not decided yet: its saga has been running for 5.00 s, the last saved state is StockReserved, orders-1 drives it.',
  );
  expect(diagnose(someEvidence({ ...decisions, order: orphaned }))).toContain('the instance that drove it is gone');
});
