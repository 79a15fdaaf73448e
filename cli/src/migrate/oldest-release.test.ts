import { expect, it } from 'vitest';
import { gateFor } from './oldest-release.ts';

const pending = [{ name: '0007_gone', requires: { service: 'orders', atLeast: '0.4.0' } }];
const change = { service: 'orders', isNew: false, pending, inEffect: [] };

it('a database in use is contracted where the oldest release that may run is new enough', async () => {
  expect(await gateFor('0.4.0').pass(change)).toEqual([]);
  expect(await gateFor(undefined).pass({ ...change, isNew: true })).toEqual([]);
});

it.each([
  ['0.3.0', 'it requires orders >= 0.4.0, and orders 0.3.0 (--oldest) runs'],
  [undefined, 'it requires orders >= 0.4.0, and orders of an unknown version (no --oldest was given) runs'],
])('it is not where that is %s', async (oldest, why) => {
  await expect(gateFor(oldest).pass(change)).rejects.toMatchObject({
    code: 'migration_refused',
    why,
    next: expect.stringContaining('--oldest VERSION'),
  });
});
