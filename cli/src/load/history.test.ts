import { describe, expect, it } from 'vitest';
import { historyLines, repeatedKeys, sagaOutcomes, unexpectedOrderIds } from './history.ts';
import { aRecord, timedOut } from './testing/records.ts';

describe('what the audit receives', () => {
  it('is every clear response with its time', () => {
    const record = aRecord({ orderId: 'a', at: 5 });
    expect(historyLines([record], [{ id: 'a', key: record.key }])).toEqual([
      { orderId: 'a', status: 'Confirmed', time: 5 },
    ]);
  });

  it('is unclear for an order whose client got no response, found by its key', () => {
    const record = aRecord({ ...timedOut, key: 'k' });
    expect(historyLines([record], [{ id: 'x', key: 'k' }])).toContainEqual({ orderId: 'x', status: 'unclear' });
  });

  it('is unclear for an order that was cut off before its client had a record', () => {
    expect(historyLines([], [{ id: 'x', key: 'load-1-whole-9' }])).toEqual([{ orderId: 'x', status: 'unclear' }]);
  });

  it('leaves out an order whose response said that nothing was recorded: it is unexpected', () => {
    const refused = aRecord({ key: 'k', http: 503, status: undefined, orderId: undefined, code: 'overloaded' });
    expect(historyLines([refused], [{ id: 'x', key: 'k' }])).toEqual([
      { orderId: undefined, status: 'rejected', time: refused.at },
    ]);
  });

  it('leaves the response of a repeated request to the one that was clear', () => {
    const clear = aRecord({ key: 'k', orderId: 'x' });
    const meanwhile = aRecord({
      key: 'k',
      http: 409,
      status: undefined,
      orderId: undefined,
      code: 'request_in_progress',
    });
    const statuses = historyLines([clear, meanwhile], [{ id: 'x', key: 'k' }]).map(({ status }) => status);
    expect(statuses).toEqual(['Confirmed', 'rejected']);
  });
});

describe('an unexpected order', () => {
  it('is one of the run whose response said that nothing was recorded', () => {
    const refused = aRecord({ key: 'k', http: 503, status: undefined, orderId: undefined, code: 'overloaded' });
    const clear = aRecord({ key: 'reported', orderId: 'a' });
    const own = [
      { id: 'a', key: 'reported' },
      { id: 'x', key: 'k' },
      { id: 'cut-off', key: 'load-1-whole-9' },
    ];
    expect(unexpectedOrderIds([refused, clear], own)).toEqual(['x']);
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

describe('how sagas ended', () => {
  it('is counted by status and reason, and by state where one has not', () => {
    const ended = { status: 'Confirmed', reason: null, state: 'Confirmed' } as const;
    const cancelled = { status: 'Cancelled', reason: 'out of stock', state: 'Cancelled' } as const;
    const open = { status: null, reason: null, state: 'Compensating' } as const;
    expect(sagaOutcomes([cancelled, ended, open, ended])).toEqual({
      Confirmed: 2,
      'Cancelled: out of stock': 1,
      'open: Compensating': 1,
    });
  });
});
