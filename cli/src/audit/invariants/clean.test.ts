import { expect, it } from 'vitest';
import { type CleanFacts, cleanResult } from './clean.ts';

const clean: CleanFacts = {
  proxies: [{ name: 'orders-payments', enabled: true, toxics: [] }],
  missing: [],
  frozen: [],
  processes: 9,
  faults: [],
  armed: [],
};

it('holds where nothing of a fault is left', () => {
  expect(cleanResult(clean)).toMatchObject({ id: 'I14', verdict: 'pass', violations: [] });
});

it.each<[Partial<CleanFacts>, string]>([
  [{ proxies: [{ name: 'orders-stock', enabled: false, toxics: [] }] }, 'the proxy orders-stock is disabled'],
  [
    { proxies: [{ name: 'orders-stock', enabled: true, toxics: [{ name: 'latency_1' }] }] },
    'the proxy orders-stock has the toxic latency_1',
  ],
  [{ missing: ['orders-stock'] }, 'the proxy orders-stock is not there'],
  [{ frozen: ['payments-1 (process 7)'] }, 'payments-1 (process 7) is frozen (state T)'],
  [{ faults: ['lock on orders-db (15fbad)'] }, 'lock on orders-db (15fbad) was not reverted'],
  [{ armed: ['orders.stock-reserved:unsaved'] }, 'the failpoint orders.stock-reserved:unsaved is armed'],
])('%j violates it, by name', (change, detail) => {
  expect(cleanResult({ ...clean, ...change })).toMatchObject({ verdict: 'fail', violations: [{ detail }] });
});
