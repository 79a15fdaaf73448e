import { expect, it } from 'vitest';
import { costOf } from './cost.ts';
import { renderCost, replaceCost } from './render.ts';
import { renderLoad } from './render-load.ts';
import type { Sample } from './sample.ts';

/** A sample at a second in which the programs and counters have the given values. */
function aSample(second: number, cpuMs: number, inserted: number, bytes: number): Sample {
  const table = { inserted, updated: 2 * inserted, deleted: 0, bytes, indexBytes: bytes / 4 };
  return {
    atMs: second * 1_000,
    cpuMs: new Map([['orders', cpuMs]]),
    tables: new Map([['orders.orders', table]]),
    commits: new Map([['orders', inserted]]),
    walBytes: bytes * 10,
    spans: inserted * 31,
    deliveries: inserted,
  };
}

// Idle: 20 CPU ms a second, and nothing else grows. 10 s of 100 orders, then 5 s of none.
const before = aSample(0, 1_000, 0, 0);
const after = aSample(10, 1_700, 100, 8_000);
const later = aSample(15, 1_800, 100, 8_000);
const cost = costOf({ orders: 100, ordersPerSecond: 10 }, [before, after], [after, later]);

it('takes off what the system costs without orders, and divides by the orders', () => {
  expect(cost.idleCpuMsPerSecond).toEqual({ orders: 20 });
  expect(cost.cpuMs).toEqual({ orders: (700 - 10 * 20) / 100 });
  expect(cost.tables).toEqual([{ table: 'orders.orders', inserted: 1, updated: 2, heapBytes: 60, indexBytes: 20 }]);
  expect(cost).toMatchObject({
    walBytes: 800,
    idleWalBytesPerSecond: 0,
    spans: 31,
    deliveries: 1,
    commits: { orders: 1 },
  });
});

it('refuses samples of different tables', () => {
  const other: Sample = { ...after, tables: new Map() };
  expect(() => costOf({ orders: 1, ordersPerSecond: 1 }, [other, after], [after, later])).toThrow(
    'table orders.orders is not in every sample',
  );
});

it('writes its tables between the markers of the page, and only there', () => {
  const page = 'before\n<!-- cost: npm run bench:cost -- --write -->\n\nold\n\n<!-- /cost -->\nafter\n';
  const written = replaceCost(page, renderCost(cost, 'a machine'));
  expect(written).toMatch(/^before\n<!-- cost/);
  expect(written).toContain('| orders | 5.00 | 20.0 |');
  expect(written).not.toContain('old');
  expect(written).toMatch(/<!-- \/cost -->\nafter\n$/);
  expect(() => replaceCost('no markers', '')).toThrow('the page has no <!-- cost');
});

it('multiplies by the rates', () => {
  const text = renderLoad(cost);
  expect(text).toContain('| orders | 200 | 0.05 | 0.5 | 5 | 50 |');
  expect(text).toContain('| WAL a second | 8 KB | 80 KB | 800 KB | 8 MB |');
  expect(text).toContain('| data a day, all tables | 69 MB | 690 MB | 6.9 GB | 69 GB |');
  expect(text).toContain('| spans a second | 310 | 3,100 | 31,000 | 310,000 |');
});
