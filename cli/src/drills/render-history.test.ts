import { expect, it } from 'vitest';
import { widthOf } from '../output/width.ts';
import type { PlayedRound } from './history.ts';
import { progressOf } from './progress.ts';
import { renderHistory } from './render-history.ts';

const round: PlayedRound = {
  id: '20261124-175021',
  level: 4,
  trainee: 'reference',
  points: 100,
  ended: 'all-clear',
  scenario: 'd403',
  components: ['flag:publish-order-confirmed-v2'],
  families: ['connection'],
  clocks: { symptomMs: 1_000, detectedMs: 4_500, diagnosedMs: 64_000, recoveredMs: 301_000, endMs: 361_000 },
  isKnown: false,
};

it('has rounds, then medians by component and by family, in 80 columns', () => {
  const rounds = [round, { ...round, points: null, scenario: null, clocks: null, isKnown: true }];
  const text = renderHistory(rounds, progressOf(rounds), { columns: 80 });
  expect(text.split('\n')).toEqual([
    'ROUND            TRAINEE   POINTS  ENDED      SCENARIO  DETECT  DIAGNOSE  SERVED',
    '20261124-175021  referen…  100     all-clear  d403      3.5     63.0      300.0',
    '20261124-175021  referen…  -       all-clear  level 4*  -       -         -',
    '',
    'times: seconds from the symptom; *: known, counts in no median',
    '',
    'COMPONENT                        ROUNDS  POINTS  DETECT  DIAGNOSE  SERVED',
    'flag:publish-order-confirmed-v2  1       100     3.5     63.0      300.0',
    '',
    'FAMILY      ROUNDS  POINTS  DETECT  DIAGNOSE  SERVED',
    'connection  1       100     3.5     63.0      300.0',
  ]);
  expect(Math.max(...text.split('\n').map(widthOf))).toBeLessThanOrEqual(80);
  expect(renderHistory([round], [], { columns: 82 })).toContain(' reference  100 ');
  expect(renderHistory([], [], { columns: 80 })).toBe('no rounds yet');
});
