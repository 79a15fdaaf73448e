import { describe, expect, it } from 'vitest';
import { evaluate } from './evaluate.ts';
import type { PairRecord } from './journal.ts';
import { aFiring, aPair, aRecord, aStart, expecting, outage, secondsWith } from './testing/records.ts';

/*
 * Goal: what a run reports of the alerts follows from its journal alone. Customers are hit by the load's record, alerts belong to a fault
 * by the expectations, and where the two contradict each other the pair is unknown.
 */

const down = aPair('down');
const lists = { must: ['Failing'], may: ['ShipmentsMissing'] };

function check(record: Partial<PairRecord>, expected: Parameters<typeof expecting>[1] = lists) {
  const report = evaluate(
    { start: aStart([down]), records: [aRecord(down, record)], tookMs: 1 },
    expecting([down], expected),
  );
  const [pair] = report.pairs;
  if (pair === undefined) throw new Error('no pair');
  const verdicts = Object.fromEntries(pair.cells.map(({ alertname, verdict }) => [alertname, verdict]));
  return { ...report, pair, verdicts };
}

describe('an alert under a fault', () => {
  it.each([
    ['must and fires', outage, [aFiring('Failing', 7)], { Failing: 'hit' }, 'pass'],
    ['must and is silent', outage, [], { Failing: 'missed' }, 'fail'],
    [
      'may and fires',
      outage,
      [aFiring('Failing', 7), aFiring('ShipmentsMissing', 30)],
      { ShipmentsMissing: 'hit' },
      'pass',
    ],
    ['may and is silent', outage, [aFiring('Failing', 7)], { ShipmentsMissing: 'silent' }, 'pass'],
    [
      'is a page in no list and fires',
      outage,
      [aFiring('Failing', 7), aFiring('Stalled', 15)],
      { Stalled: 'false' },
      'fail',
    ],
    [
      'is a ticket in no list and fires',
      outage,
      [aFiring('Failing', 7), aFiring('Blind', 15)],
      { Blind: 'hit' },
      'pass',
    ],
    [
      'must, and its ticket alone fires',
      outage,
      [{ ...aFiring('Failing', 7), severity: 'ticket', burn: 'steady' }],
      { Failing: 'missed' },
      'fail',
    ],
    ['fired before the fault', outage, [aFiring('Failing', -3)], { Failing: 'missed' }, 'fail'],
  ] as const)('%s', (_, customers, firings, expected, verdict) => {
    const { pair, verdicts } = check({ ...customers, firings });
    expect(verdicts).toMatchObject(expected);
    expect(pair.verdict).toBe(verdict);
  });

  it('is false where it may fire and no customer was hit', () => {
    const { pair, verdicts } = check({ firings: [aFiring('Failing', 7)] }, { may: ['Failing'] });
    expect(verdicts).toMatchObject({ Failing: 'false' });
    expect(pair.reasons).toEqual(['Failing fired after 7.0 s: no customer was hit']);
  });

  it('is a ticket that must fire, also where no customer was hit', () => {
    const expected = { must: ['Blind'] };
    expect(check({ firings: [aFiring('Blind', 12)] }, expected).pair.verdict).toBe('pass');
    expect(check({}, expected).pair).toMatchObject({ verdict: 'fail', reasons: ['Blind did not fire'] });
  });
});

describe('a pair is unknown', () => {
  it.each([
    ['a page must fire and no customer was hit', {}, lists, 'expects Failing, and no customer was hit'],
    ['no page may fire and customers were hit', outage, {}, 'expects no page, and customers were hit'],
    ['the measurement had problems', { ...outage, problems: ['the machine is too busy'] }, lists, 'too busy'],
    ['the shipments are not known', { shipments: undefined }, { may: ['Failing'] }, 'shipments could not be read'],
  ] as const)('where %s', (_, record, expected, reason) => {
    const { pair, verdicts, metrics, verdict } = check(record, expected);
    expect(pair).toMatchObject({ verdict: 'unknown', reasons: [expect.stringContaining(reason)] });
    expect(new Set(Object.values(verdicts))).toEqual(new Set(['unknown']));
    expect(metrics).toMatchObject({ unknownShare: 1, recall: undefined, precision: undefined });
    expect(verdict).toBe('unknown');
  });

  it('where no group has it', () => {
    const report = evaluate(
      { start: aStart([down]), records: [aRecord(down)], tookMs: 1 },
      expecting([aPair('kill')], {}),
    );
    expect(report.pairs[0]).toMatchObject({ verdict: 'unknown', reasons: ['no expectations'] });
  });
});

it('a fault that is left makes the whole run dirty', () => {
  expect(check({ ...outage, firings: [aFiring('Failing', 7)], notReverted: ['down on orders'] })).toMatchObject({
    verdict: 'dirty',
    pair: { verdict: 'dirty', reasons: ['down on orders'] },
  });
});

describe('the numbers', () => {
  const pairs = ['down', 'partition', 'kill', 'pause'].map((fault) => aPair(fault));
  const [one, two, three, four] = pairs as [typeof down, typeof down, typeof down, typeof down];
  const expected = expecting(pairs, { may: ['Failing', 'ShipmentsMissing'] });
  const numbers = (records: readonly PairRecord[]) => evaluate({ start: aStart(pairs), records, tookMs: 1 }, expected);

  it('recall is the share of the faults that hit customers and had a page', () => {
    const { metrics } = numbers([
      aRecord(one, { ...outage, firings: [aFiring('Failing', 7)] }),
      aRecord(two, { ...outage, firings: [aFiring('Explains', 2)] }),
      aRecord(three),
    ]);
    expect(metrics).toMatchObject({
      recall: 0.5,
      hitPairs: 2,
      detectedPairs: 1,
      measured: 3,
      planned: 4,
      unknownShare: 0,
    });
  });

  it('precision is the share of the pages that belong to their fault', () => {
    const { metrics } = numbers([
      aRecord(one, { ...outage, firings: [aFiring('Failing', 7), aFiring('Stalled', 9), aFiring('Explains', 9)] }),
      aRecord(two, { firings: [aFiring('Failing', 7)] }),
      aRecord(three),
    ]);
    expect(metrics).toMatchObject({ precision: 1 / 3, pages: 3, truePages: 1 });
  });

  it('detection is the time to the first page that belongs to it; a fault without one comes after all others', () => {
    const { metrics } = numbers([
      aRecord(one, {
        ...outage,
        firings: [aFiring('ShipmentsMissing', 25), aFiring('Failing', 7), aFiring('Stalled', 1)],
      }),
      aRecord(two, { shipments: { confirmed: 600, late: 3, missing: 0 }, firings: [aFiring('ShipmentsMissing', 31)] }),
      aRecord(three, outage),
    ]);
    expect(metrics.detection).toEqual({
      count: 3,
      p50: 31,
      p95: Number.POSITIVE_INFINITY,
      max: Number.POSITIVE_INFINITY,
    });
    expect(metrics.outageDetection).toMatchObject({ count: 2, p50: 7 });
  });

  it('clear is the time from the revert to the end of each page; those with long windows are apart', () => {
    const { metrics } = numbers([
      aRecord(one, {
        ...outage,
        firings: [
          aFiring('Failing', 7, 12, 'fast'),
          aFiring('Failing', 9, null, 'slow'),
          aFiring('ShipmentsMissing', 30, 50),
        ],
      }),
      aRecord(two, { ...outage, firings: [aFiring('Failing', 7, -5), aFiring('Explains', 7, 99)] }),
    ]);
    expect(metrics.clear).toEqual({ count: 1, p50: 12, p95: 12, max: 12 });
    expect(metrics.slowClear).toEqual({
      count: 2,
      p50: 50,
      p95: Number.POSITIVE_INFINITY,
      max: Number.POSITIVE_INFINITY,
    });
  });

  it('only a fault under which nearly all orders failed is an outage', () => {
    const { pairs: checked } = numbers([
      aRecord(one, outage),
      aRecord(two, { seconds: secondsWith({ failed: 8 }) }),
      aRecord(three),
    ]);
    expect(checked.map(({ isOutage }) => isOutage)).toEqual([true, false, false]);
  });

  it('a pair without evidence counts in none of them, but in the share of unknown ones', () => {
    const problems = ['too busy'];
    const { metrics, open } = numbers([
      aRecord(one, { ...outage, firings: [aFiring('Failing', 7)] }),
      aRecord(two, { ...outage, problems, firings: [aFiring('Stalled', 7)] }),
    ]);
    expect(metrics).toMatchObject({
      recall: 1,
      precision: 1,
      unknownShare: 0.5,
      detection: { count: 1 },
      clear: { count: 1 },
    });
    expect(open).toEqual([three, four]);
  });

  it('nothing measured is unknown', () => {
    expect(numbers([])).toMatchObject({ verdict: 'unknown', open: pairs });
  });
});
