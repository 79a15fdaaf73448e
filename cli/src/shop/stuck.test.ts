import { expect, it } from 'vitest';
import { stuckReasons } from './stuck.ts';
import { anOrder, at } from './testing/stories.ts';

const open = anOrder({ state: 'Compensating', status: 'Cancelled', open: true });
const gone = { ...open.owner, alive: false };

it.each([
  ['is young, owned and tried seldom', { ...open, attempts: 3 }, []],
  ['is open for 30 s', { ...open, readAt: at(30_000) }, []],
  ['is open for longer', { ...open, readAt: at(30_001) }, ['open for 30.0 s']],
  ['has lost its owner', { ...open, owner: gone }, ['its owner is gone']],
  ['failed a fourth round', { ...open, attempts: 4 }, ['4 failed rounds of compensation']],
  ['has ended, however long ago', { ...open, open: false, owner: gone, readAt: at(9_999_999), attempts: 9 }, []],
])('a saga that %s', (_, saga, reasons) => {
  expect(stuckReasons(saga)).toEqual(reasons);
});
