import { expect, it } from 'vitest';
import { createStyle } from '../../output/style.ts';
import { cloneRoot } from '../../platform/project.ts';
import { findScenario, readScenarios } from '../format/catalog.ts';
import { type Round, roundOf } from '../score/round.ts';
import { aJournal } from '../testing/a-journal.ts';
import { debriefOf, describeOrders } from './debrief.ts';
import { renderDebrief } from './render-text.ts';
import { chartsOf } from './timeline.ts';

const scenario = findScenario(await readScenarios(cloneRoot()), 'd201');
const records = aJournal({ scenario, endsAt: 60 });

it('has what happened when, in one order: customers, trainee, and what was withheld', () => {
  const { timeline } = debriefOf(records);
  expect(timeline.map(({ ms }) => ms)).toEqual(timeline.map(({ ms }) => ms).toSorted((a, b) => a - b));
  const lanes = timeline.map(({ lane, text }) => `${lane}: ${text}`);
  expect(lanes.find((line) => line.startsWith('failure: began'))).toBe('failure: began: latency on orders-payments');
  expect(lanes.some((line) => /^customers: \d+ of \d+ orders failed/.test(line))).toBe(true);
});

it('shows people the truth, where it could be seen, and a solution', () => {
  const text = renderDebrief(debriefOf(records), createStyle({ enabled: false }));
  expect(text).toContain('network:orders-payments, slow, all-orders');
  expect(text).toContain('A solution');
  expect(text).toMatch(/\d+ orders, \d+ failed, \d+ slow\n/);
  expect(describeOrders({ sent: 9, failed: 1, slow: 0, shed: 3 })).toBe('9 orders, 1 failed, 0 slow, 3 shed');
});

it('has a series of shed orders where an operator has shed some, and only there', () => {
  const labelsOf = (journal: typeof records) => {
    const round = roundOf(journal) as Round;
    const { outcomes, seconds } = chartsOf(round, debriefOf(journal).timeline);
    return outcomes.map(({ label }, index) => [label, seconds.responses[index]?.reduce((sum, one) => sum + one, 0)]);
  };
  expect(labelsOf(records).map(([label]) => label)).not.toContain('shed');
  const last = records.findLastIndex(({ type }) => type === 'second');
  const shed = records.map((record, index) => (index === last ? { ...record, shed: 4 } : record));
  expect(labelsOf(shed).at(-1)).toEqual(['shed', 4]);
});

it('shows nothing of a round that was not revealed', () => {
  const end = records.findIndex(({ type }) => type === 'end');
  const debrief = debriefOf(records.slice(0, end));
  expect(debrief.envelope).toBeUndefined();
  expect(JSON.stringify(debrief)).not.toContain('orders-payments');
});
