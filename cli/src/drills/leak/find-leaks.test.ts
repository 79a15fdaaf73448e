/*
 * Goal: what shows a trainee what a round keeps is found, and what a platform without a drill says is not.
 * Method: texts as surfaces write them.
 */
import { describe, expect, it } from 'vitest';
import { cloneRoot } from '../../platform/project.ts';
import { findScenario, readScenarios } from '../format/catalog.ts';
import { seal } from '../seal/envelope.ts';
import { findLeaks } from './find-leaks.ts';

const scenarios = await readScenarios(cloneRoot());

function whatIn(text: string, id = 'd201', seed = '5eed5eed5eed5eed'): readonly string[] {
  const { level } = findScenario(scenarios, id);
  const envelope = seal(scenarios, { seed, level, candidates: [{ id, weight: 1 }], build: 'x' }, 'ab'.repeat(32));
  return findLeaks([{ surface: 'a surface', text }], envelope).map(({ what }) => what);
}

describe('a leak', () => {
  it.each([
    ['a toxic', 'the proxy orders-payments has the toxic shopctl-1'],
    ['an injection', '{"type":"chaos.injected","subject":"orders-payments"}'],
    ['an injection', 'it was injected at 12:00'],
    ['a connection of a fault', '{"pid":4711,"application":"shopctl-chaos-15fbad"}'],
    ['a frozen process', 'shipping-1 (process 4711) is frozen (state T)'],
    ['a seeded bug', 'SEEDED BUG: pause-after-402: orders counts a declined payment'],
    ['the scenario', '{"scenario":"d201"}'],
    ['the seed', 'seed 5eed5eed5eed5eed at level 2'],
    ['the nonce', `{"nonce":"${'ab'.repeat(32)}"}`],
    ['latency on orders-payments', '{"fault":"latency","target":"orders-payments"}'],
  ])('is %s in: %s', (what, text) => {
    expect(whatIn(text)).toContain(what);
  });

  it('is the bug of a release', () => {
    expect(whatIn('{"version":"0.2.0+bug.pause-after-402"}', 'd401')).toEqual(['the bug']);
    expect(whatIn('{"seededBugs":["pause-after-402"]}', 'd401')).toEqual(['a seeded bug', 'the bug']);
  });
});

it.each([
  ['a metric of the edge', 'shop_call_duration_seconds_bucket{edge="orders-payments",le="0.5"} 7'],
  ['an alert whose name has the word', '{"alertname":"OrdersLatencyBudgetBurn","edge":"orders-payments"}'],
  ['an id with the digits of a scenario', '{"traceId":"0ad201ffd201"}'],
  ['a fault and its target in two records', '{"kind":"latency"}\n{"edge":"orders-payments"}'],
  ['the component', '{"name":"toxiproxy","status":"ready"}'],
  ['what an operation ended', '{"kind":"ops","target":"orders-payments","from":"latency","to":"none"}'],
  [
    'the record of an operation',
    '{"type":"action","change":"ops","target":"orders-payments","from":"latency","to":"none"}',
  ],
  ['the event of an operation', '{"type":"operation.done","subject":"orders-payments","message":"latency: none"}'],
  ['a list of seeded bugs without any', '{"failpoints":true,"seededBugs":[]}'],
])('is not %s', (_what, text) => {
  expect(whatIn(text)).toEqual([]);
});
