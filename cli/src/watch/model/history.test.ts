import { describe, expect, it } from 'vitest';
import { addSample, chartOf, drainOf, type HistorySample } from './history.ts';

const fault = { id: 'a1', label: 'orders-broker down' };

/** A sample a second; the fault acts where `faulty` says so. */
function historyOf(pending: readonly (number | undefined)[], faulty: readonly number[] = []): readonly HistorySample[] {
  return pending.map((value, index) => ({
    timeMs: index * 1_000,
    pending: value,
    faults: faulty.includes(index) ? [fault] : [],
  }));
}

describe('drainOf', () => {
  it.each([
    ['not reported', [3, undefined], { kind: 'unknown' }],
    ['it grows by 4 a second', [0, 4, 8, 12, 16, 20], { kind: 'rising', pending: 20, perSecond: 4 }],
    ['it falls by 10 a second', [50, 40, 30, 20], { kind: 'draining', pending: 20, leftMs: 2_000 }],
    [
      'it grew and falls now: only the fall counts',
      [0, 30, 60, 90, 70, 50],
      { kind: 'draining', pending: 50, leftMs: 2_500 },
    ],
    ['it stays', [40, 40, 40, 40], { kind: 'waiting', pending: 40 }],
    ['a few events in passing are no trend', [0, 1, 2, 4], { kind: 'waiting', pending: 4 }],
    ['nothing waits and never did', [0, 0], { kind: 'empty', last: undefined }],
    ['a few events in passing are no backlog', [0, 3, 0], { kind: 'empty', last: undefined }],
    ['a backlog is gone since its peak', [0, 20, 10, 0], { kind: 'empty', last: { peak: 20, tookMs: 2_000 } }],
  ])('%s', (_, pending, expected) => {
    expect(drainOf(historyOf(pending))).toEqual(expected);
  });

  it('counts from the end of the fault under which the backlog grew', () => {
    const history = historyOf([0, 20, 19, 18, 9, 0], [1, 2, 3]);
    expect(drainOf(history)).toEqual({ kind: 'empty', last: { peak: 20, tookMs: 2_000 } });
  });
});

describe('addSample', () => {
  it('keeps one sample a second and fills the seconds it was not given the processor', () => {
    const sample = (timeMs: number, pending: number) => ({ timeMs, pending, faults: [] });
    const history = [sample(1_020, 1), sample(1_980, 2), sample(4_010, 3)].reduce(addSample, []);
    expect(history.map(({ timeMs, pending }) => [timeMs, pending])).toEqual([
      [1_000, 1],
      [2_000, 1],
      [3_000, 1],
      [4_000, 3],
    ]);
  });

  it('leaves a longer gap open', () => {
    const sample = (timeMs: number) => ({ timeMs, pending: 1, faults: [] });
    expect([sample(1_000), sample(60_000)].reduce(addSample, [] as readonly HistorySample[])).toHaveLength(2);
  });
});

describe('chartOf', () => {
  it('shows at least 50 s, the highest of each column, and a round end of the scale', () => {
    const pending = Array.from({ length: 60 }, (_, index) => index);
    const { columns, columnMs, top } = chartOf(historyOf(pending), 30, 59_000);
    expect({ columnMs, top, count: columns.length }).toEqual({ columnMs: 2_000, top: 100, count: 30 });
    expect(columns.at(-1)?.pending).toBe(59);
    expect(columns.at(0)?.pending).toBe(1);
  });

  it('marks the columns in which a fault acted, and leaves unknown time empty', () => {
    const { columns } = chartOf(historyOf([0, undefined, 5], [2]), 60, 2_000);
    expect(columns.slice(-3)).toEqual([
      { pending: 0, faults: [] },
      { pending: undefined, faults: [] },
      { pending: 5, faults: [fault] },
    ]);
    expect(columns[0]?.pending).toBeUndefined();
  });
});
