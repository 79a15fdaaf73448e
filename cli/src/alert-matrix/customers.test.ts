import { describe, expect, it } from 'vitest';
import { readSlos } from '../slo/catalog.ts';
import { pageBurnsOf } from './burns.ts';
import { customersHit, failedShare, firstSecondOf } from './customers.ts';
import { aStart, secondsWith } from './testing/records.ts';

const { burns, guard } = aStart([]);
const shipments = { confirmed: 600, late: 0, missing: 0 };
const hit = (record: Partial<Parameters<typeof customersHit>[0]>) =>
  customersHit({ seconds: secondsWith(), shipments, ...record }, burns, guard);

describe('customers are hit', () => {
  it.each([
    ['by an outage', { seconds: secondsWith({ failed: 9 }) }, 'more than 7.2 % failed in 60 s after 22 s'],
    ['by slow responses', { seconds: secondsWith({ slow: 10 }) }, 'more than 14.4 % slow in 60 s after 24 s'],
    ['by one late shipment', { shipments: { ...shipments, late: 1 } }, '1 shipments late, 0 missing, of 600'],
    ['by one that is missing', { shipments: { ...shipments, missing: 1 } }, '0 shipments late, 1 missing, of 600'],
  ])('%s', (_, record, evidence) => {
    expect(hit(record)).toEqual({ isHit: true, evidence });
  });

  it('not by few failures', () => {
    const few = secondsWith().map((second, at) => (at === 30 || at === 31 ? ([10, 9, 9, 9] as const) : second));
    expect(hit({ seconds: few })).toEqual({
      isHit: false,
      evidence: '18 failed and 18 slow of 850, all shipped in time',
    });
  });

  it('by nothing that is known where shipments could not be read', () => {
    expect(hit({ shipments: undefined }).isHit).toBeUndefined();
    expect(hit({ shipments: undefined, seconds: secondsWith({ failed: 9 }) }).isHit).toBe(true);
  });
});

describe('a burn rate', () => {
  const [burn] = burns as [(typeof burns)[number]];

  it('needs requests, and bad ones among them', () => {
    const lone = Array.from({ length: 30 }, (_, at) => [at % 10 === 0 ? 1 : 0, at % 10 === 0 ? 1 : 0, 1, 0] as const);
    expect(firstSecondOf(burn, lone, guard)).toBeUndefined();
    expect(firstSecondOf(burn, [[30, 30, 2, 0]], { ...guard, bad: 3 })).toBeUndefined();
    expect(firstSecondOf(burn, [[30, 30, 3, 0]], { ...guard, bad: 3 })).toBe(1);
  });

  it('needs both windows: what is over does not count any more', () => {
    const seconds = [...Array(3).fill([10, 9, 1, 0]), ...Array(17).fill([10, 9, 0, 0])];
    const shortOnly = { ...burn, shortS: 1 };
    expect(firstSecondOf(burn, seconds, { requests: 100, bad: 3 })).toBeUndefined();
    expect(firstSecondOf(shortOnly, seconds, { requests: 20, bad: 3 })).toBe(3);
  });
});

it.each([
  [20, 65, 1],
  [0, 20, 0],
  [10, 30, 0.5],
  [85, 90, undefined],
])('from %d to %d the share of failures is %s', (from, to, share) => {
  expect(failedShare(secondsWith({ failed: 9 }), from, to)).toBe(share);
});

it('the limits are those of the SLOs of the clone', async () => {
  expect(pageBurnsOf(await readSlos(process.cwd()))).toEqual([
    { symptom: 'failed', alert: 'OrdersErrorBudgetBurn fast', share: 0.072, longS: 60, shortS: 10 },
    { symptom: 'failed', alert: 'OrdersErrorBudgetBurn slow', share: 0.03, longS: 300, shortS: 60 },
    { symptom: 'slow', alert: 'OrdersLatencyBudgetBurn fast', share: 0.144, longS: 60, shortS: 10 },
    { symptom: 'slow', alert: 'OrdersLatencyBudgetBurn slow', share: 0.06, longS: 300, shortS: 60 },
  ]);
});
