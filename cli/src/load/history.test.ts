import { describe, expect, it } from 'vitest';
import { historyLines, repeatedKeys, unaskedOf } from './history.ts';
import { aRecord, timedOut } from './testing/records.ts';

describe('what the audit is told', () => {
  it('is every clear answer with its time', () => {
    const record = aRecord({ orderId: 'a', at: 5 });
    expect(historyLines([record], [{ id: 'a', key: record.key }])).toEqual([
      { orderId: 'a', status: 'Confirmed', time: 5 },
    ]);
  });

  it('is unclear for an order whose client was told nothing, found by its key', () => {
    const record = aRecord({ ...timedOut, key: 'k' });
    expect(historyLines([record], [{ id: 'x', key: 'k' }])).toContainEqual({ orderId: 'x', status: 'unclear' });
  });

  it('is unclear for an order that was cut off before its client could tell of it', () => {
    expect(historyLines([], [{ id: 'x', key: 'load-1-whole-9' }])).toEqual([{ orderId: 'x', status: 'unclear' }]);
  });

  it('leaves out an order whose client was told that nothing was recorded: nobody asked for it', () => {
    const refused = aRecord({ key: 'k', http: 503, status: undefined, orderId: undefined, code: 'overloaded' });
    expect(historyLines([refused], [{ id: 'x', key: 'k' }])).toEqual([
      { orderId: undefined, status: 'rejected', time: refused.at },
    ]);
  });

  it('leaves the answer of a repeated request to the one that was clear', () => {
    const told = aRecord({ key: 'k', orderId: 'x' });
    const meanwhile = aRecord({
      key: 'k',
      http: 409,
      status: undefined,
      orderId: undefined,
      code: 'request_in_progress',
    });
    const statuses = historyLines([told, meanwhile], [{ id: 'x', key: 'k' }]).map(({ status }) => status);
    expect(statuses).toEqual(['Confirmed', 'rejected']);
  });
});

describe('an order that nobody asked for', () => {
  it('is one of the run whose client was told that nothing was recorded', () => {
    const refused = aRecord({ key: 'k', http: 503, status: undefined, orderId: undefined, code: 'overloaded' });
    const told = aRecord({ key: 'told', orderId: 'a' });
    const own = [
      { id: 'a', key: 'told' },
      { id: 'x', key: 'k' },
      { id: 'cut-off', key: 'load-1-whole-9' },
    ];
    expect(unaskedOf([refused, told], own)).toEqual(['x']);
  });
});

describe('keys', () => {
  it('that two orders have are found', () => {
    const own = [
      { id: 'a', key: 'one' },
      { id: 'b', key: 'two' },
      { id: 'c', key: 'two' },
    ];
    expect(repeatedKeys(own)).toEqual(['two']);
  });
});
