import { expect, it } from 'vitest';
import { cloneRoot } from '../../platform/project.ts';
import { findScenario, readScenarios } from '../format/catalog.ts';
import { recordsOf } from '../journal/records.ts';
import { aJournal } from '../testing/a-journal.ts';
import { before, during } from '../testing/exemplars.ts';
import { traceDiffOf } from './trace-diff.ts';

const scenario = findScenario(await readScenarios(cloneRoot()), 'd201');
const diffOf = (...events: readonly (typeof before)[]) => {
  const happenings = events.map((event) => [59, event] as const);
  return traceDiffOf(recordsOf(aJournal({ scenario, happenings, endsAt: 60 }), 'exemplar'));
};

it('has each span of both orders once, with what is different', () => {
  const rows = diffOf(before, during)?.rows.map(({ mark, depth, name, beforeMs, duringMs }) => [
    mark,
    depth,
    name,
    beforeMs,
    duringMs,
  ]);
  expect(rows).toEqual([
    ['slower', 0, 'POST /api/orders', 20, 3_020],
    ['slower', 1, 'POST /orders', 15, 3_015],
    ['different', 2, 'charge payment', 5, 3_005],
    ['same', 3, 'POST /payments', 4, 4],
    ['extra', 3, 'POST /payments', undefined, 3_000],
    ['missing', 2, 'publish order.confirmed', 1, undefined],
  ]);
});

it('of two healthy orders has no difference', () => {
  const again = { ...before, when: 'during' } as typeof before;
  expect(diffOf(before, again)?.rows.filter(({ mark }) => mark !== 'same')).toEqual([]);
});

it('is not there without both', () => {
  expect(diffOf(before)).toBeUndefined();
  expect(diffOf(during)).toBeUndefined();
});
