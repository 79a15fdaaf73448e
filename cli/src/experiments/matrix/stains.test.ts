import { describe, expect, it } from 'vitest';
import type { Violation } from '../../audit/invariant.ts';
import type { JournalRecord } from '../journal-records.ts';
import { Stains } from './stains.ts';

const audit = (id: string, ...violations: Violation[]) => [
  { type: 'audit', invariants: [{ id, verdict: 'violated', violations }] } as unknown as JournalRecord,
];
const wrong = (orderId: string): Violation => ({ kind: 'wrong', orderId, detail: 'shipped twice' });
const sum = (detail: string): Violation => ({ kind: 'wrong', detail });

describe('what an audit finds', () => {
  it('is new once, and then left by an earlier round', () => {
    const stains = new Stains();
    expect(stains.sort(audit('I7', wrong('a'))).get('I7')).toBe('new');
    expect(stains.sort(audit('I7', wrong('a'))).get('I7')).toBe('old');
    expect(stains.sort(audit('I7', wrong('a'), wrong('b'))).get('I7')).toBe('new');
    expect(stains.sort(audit('I7', wrong('b'))).get('I7')).toBe('old');
  });

  it('is of its own invariant', () => {
    const stains = new Stains();
    stains.sort(audit('I7', wrong('a')));
    expect(stains.sort(audit('I4', wrong('a'))).get('I4')).toBe('new');
  });

  it('is unclear when a sum that was wrong is wrong otherwise, unless an order shows something new', () => {
    const stains = new Stains();
    expect(stains.sort(audit('I5', sum('product 1: 3 too few'))).get('I5')).toBe('new');
    expect(stains.sort(audit('I5', sum('product 1: 3 too few'))).get('I5')).toBe('old');
    expect(stains.sort(audit('I5', sum('product 1: 4 too few'))).get('I5')).toBe('unclear');
    expect(stains.sort(audit('I5', sum('product 1: 5 too few'), wrong('a'))).get('I5')).toBe('new');
  });
});
