/*
 * Goal: players without any skill stay below their bounds, and a solution above its own, in the mean over all scenarios with a failure.
 * Method: the journal of a round of each scenario, with what such a player does in it. `drill bench` measures the same on platforms.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { cloneRoot } from '../../platform/project.ts';
import { serviceNames } from '../../topology/services.ts';
import { readScenarios } from '../format/catalog.ts';
import { isWithoutFailure, type Scenario } from '../format/schema.ts';
import { type Mechanism, placesOf, type Scope } from '../format/vocabulary.ts';
import type { DrillEvent } from '../journal/records.ts';
import { isScore, scoreOf } from '../score/score.ts';
import { aJournal, type Happening } from '../testing/a-journal.ts';
import { aSession } from '../testing/fake-session.ts';
import { baselines, randomBlame } from './baselines.ts';

const scenarios = await readScenarios(cloneRoot());
const failing = scenarios.filter((one) => !isWithoutFailure(one));
const INJECTED = 30;
const LIMIT = 240;
const by = 'baseline';

/** Points of a round in which customers fail from 30 s on, until `curedAt`. */
function pointsOf(scenario: Scenario, happenings: readonly Happening[], curedAt?: number): number {
  const score = scoreOf(
    aJournal({
      scenario,
      happenings,
      failing: [[INJECTED, curedAt ?? LIMIT]],
      endsAt: LIMIT,
      limitMs: LIMIT * 1000,
      ended: curedAt === undefined ? 'limit' : 'fixed',
    }),
  );
  if (!isScore(score)) throw new Error(score.reason);
  return score.points;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const boundOf = (name: string) => baselines.find((one) => one.name === name)?.bound;
const ack: Happening = [50, { type: 'ack', alert: 'OrdersErrorBudgetBurn', by }];
const proof: Happening = [LIMIT - 2, { type: 'proof', status: 'Confirmed', spans: 31, expectedSpans: 31 }];
const action = (at: number, part: Partial<Extract<DrillEvent, { type: 'action' }>>): Happening => [
  at,
  { type: 'action', change: 'restart', target: 'stock', from: 'ready', to: 'ready', by, ...part },
];

describe('the bound of', () => {
  it('noop: doing nothing', () => {
    expect(boundOf('noop')).toEqual({ atMost: 20 });
    expect(mean(failing.map((scenario) => pointsOf(scenario, [])))).toBeLessThanOrEqual(20);
  });

  it('restart-everything: which cures what a scenario says that it cures', () => {
    expect(boundOf('restart-everything')).toEqual({ atMost: 40 });
    const restarts = serviceNames.map((target, index) => action(60 + index, { target }));
    const points = failing.map((scenario) => {
      const isCured = scenario.restart === 'cures';
      return pointsOf(scenario, [ack, ...restarts, ...(isCured ? [proof] : [])], isCured ? 70 : undefined);
    });
    expect(mean(points)).toBeLessThanOrEqual(40);
    // A restart is a cure here and there, and has to be worth something there.
    expect(Math.max(...points)).toBeGreaterThan(40);
  });

  it('random-blame: three guesses from the vocabulary', () => {
    expect(boundOf('random-blame')).toEqual({ atMost: 30 });
    const points = failing.flatMap((scenario) =>
      Array.from({ length: 8 }, (_, seed) =>
        pointsOf(
          scenario,
          [0, 1, 2].map((index) => [60 + index, blameOf(randomBlame(`${seed}`, index))]),
        ),
      ),
    );
    expect(mean(points)).toBeLessThanOrEqual(30);
  });

  it('reference: a diagnosis and a cure of the scenario, in time', () => {
    expect(boundOf('reference')).toEqual({ atLeast: 95 });
    for (const scenario of failing) {
      const blames = scenario.truths.map((truth, index): Happening => [60 + index, blameOf([], truth)]);
      const levers = scenario.levers.map((lever, index) =>
        action(64 + index, { change: lever.change, target: lever.target ?? 'orders', to: lever.to ?? 'changed' }),
      );
      expect(pointsOf(scenario, [ack, ...blames, ...levers, proof], 75), scenario.id).toBeGreaterThanOrEqual(95);
    }
  });
});

/** With evidence of the right place, where there is a truth. */
function blameOf(
  words: readonly string[],
  truth?: { readonly component: string; readonly mechanism: Mechanism; readonly scope: Scope },
): DrillEvent {
  const [, component = 'none', , mechanism = 'none', , scope = 'none'] = words;
  const said = truth ?? { component, mechanism: mechanism as Mechanism, scope: scope as Scope };
  const touches = truth === undefined ? [] : placesOf(truth.component);
  const evidence =
    truth === undefined
      ? []
      : [{ reference: 'trace:1', happenedMs: 55_000, touches: touches.length > 0 ? touches : ['orders'] }];
  return { type: 'blame', component: said.component, mechanism: said.mechanism, scope: said.scope, evidence, by };
}

describe('a baseline', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] }));
  afterEach(() => void vi.useRealTimers());

  /** What it runs in a round in which a page comes after 20 s. */
  async function commandsOf(
    name: string,
    pages: readonly string[] = ['OrdersErrorBudgetBurn'],
  ): Promise<readonly string[]> {
    const fake = aSession();
    fake.state.pages = [];
    const player = baselines.find((one) => one.name === name)?.playerFor(failing[0] as Scenario, '7');
    const playing = player?.(fake.session).catch(() => undefined); // The round is over.
    await vi.advanceTimersByTimeAsync(20_000);
    expect(fake.ran).toEqual([]);
    fake.state.pages = pages;
    await vi.advanceTimersByTimeAsync(60_000);
    fake.over.abort();
    await playing;
    return fake.ran;
  }

  it('noop does nothing, and ends with the round', async () => {
    expect(await commandsOf('noop')).toEqual([]);
  });

  it('restart-everything acknowledges, restarts each service, and says that it is fixed', async () => {
    const restarts = serviceNames.map((service) => `restart ${service}`);
    expect(await commandsOf('restart-everything')).toEqual(['drill ack', ...restarts, 'drill fixed']);
  });

  it('random-blame names three causes, the same ones for the same seed', async () => {
    const ran = await commandsOf('random-blame');
    expect(ran).toHaveLength(3);
    expect(new Set(ran).size).toBe(3);
    expect(ran).toEqual([0, 1, 2].map((index) => `drill blame ${randomBlame('7', index).join(' ')}`));
  });

  it('reference plays the solution of its scenario', async () => {
    const commands = (failing[0] as Scenario).reference.filter((line) => !line.startsWith('wait'));
    expect(await commandsOf('reference', ['OutboxStalled'])).toEqual(commands);
  });

  it('reference waits for the page of its scenario, not for one that comes beside it', async () => {
    expect(await commandsOf('reference', ['OrdersLatencyBudgetBurn'])).toEqual([]);
  });

  it('reference says again that it is fixed, where a busy second has taken that back', async () => {
    const fake = aSession();
    fake.state.pages = ['OutboxStalled'];
    const playing = baselines.find((one) => one.name === 'reference')?.playerFor(failing[0] as Scenario, '7');
    const played = playing?.(fake.session).catch(() => undefined); // The round is over.
    await vi.advanceTimersByTimeAsync(30_000);
    const fixed = () => fake.ran.filter((one) => one === 'drill fixed').length;
    expect(fixed()).toBe(1);
    fake.state.phase = 'on-call';
    await vi.advanceTimersByTimeAsync(1_000);
    fake.state.phase = 'checking';
    await vi.advanceTimersByTimeAsync(10_000);
    expect(fixed()).toBe(2);
    fake.over.abort();
    await played;
  });
});
