import type { ShadowOutcome, ShippedRows } from '@shop/kit/shadow.ts';
import { describe, expect, it } from 'vitest';
import { compareOutcome } from './compare.ts';

const lines = [{ productId: 1, quantity: 2 }];
const rows: ShippedRows = {
  inbox: [{ type: 'order.confirmed', orderId: 'order-1' }],
  shipments: [lines],
  parcels: [lines],
};
const outcome = (changes: Partial<ShadowOutcome> = {}): ShadowOutcome => ({
  number: 1,
  messageId: 'message-1',
  settlement: 'ack',
  written: rows,
  ...changes,
});

describe('a message in the shadow', () => {
  it('with the rows of what serves is the same', () => {
    expect(compareOutcome(outcome(), structuredClone(rows))).toEqual({ kind: 'same' });
  });

  it.each([
    ['would be dead-lettered', { settlement: 'dead-letter', written: undefined }, 'would end in dead-letter'],
    ['would be tried again', { settlement: 'retry' }, 'would end in retry'],
    ['would write nothing', { written: undefined }, 'nothing would be written'],
    ['would not be noted', { written: { ...rows, inbox: [] } }, 'would write [] into inbox'],
    ['would ship other lines', { written: { ...rows, shipments: [[]] } }, 'would write [[]] into shipments'],
    ['would ship twice', { written: { ...rows, parcels: [lines, lines] } }, 'into parcels'],
  ] as const)('that %s is different', (_what, changes, text) => {
    const { settlement = 'ack', written } = { written: rows, ...changes } as Partial<ShadowOutcome>;
    const found = compareOutcome({ number: 1, messageId: 'message-1', settlement, ...(written && { written }) }, rows);
    expect(found).toMatchObject({ kind: 'different', what: expect.stringContaining(text) });
  });

  it.each([
    ['what serves has not processed', outcome(), undefined],
    ['was not received in time', outcome({ settlement: 'unreceived' }), rows],
    ['names no id', outcome({ messageId: null }), undefined],
  ] as const)('that %s is unknown', (_what, one, served) => {
    expect(compareOutcome(one, served)).toMatchObject({ kind: 'unknown' });
  });
});
