import { describe, expect, it } from 'vitest';
import { type DeployState, deployStates, isOver, type JournalRecord, runsIn, transitions } from './run.ts';

const planned = (run: string): JournalRecord => ({
  time: '2026-11-24T09:00:00.000Z',
  run,
  kind: 'planned',
  service: 'orders',
  strategy: 'rolling',
  source: 'HEAD~1',
  from: '1.0.0',
  to: '1.1.0',
  keepMs: 0,
  asked: { by: { user: 'anna', source: 'command line' } },
});
const later = (run: string, what: object): JournalRecord =>
  ({ time: '2026-11-24T09:00:05.000Z', run, ...what }) as JournalRecord;

describe('states', () => {
  it('end in five of them, and each of the others leads there', () => {
    const ends = deployStates.filter(isOver);
    expect(ends).toEqual(['done', 'compared', 'rolled-back', 'inconclusive', 'failed']);
    const reach = (state: DeployState, seen = new Set<DeployState>()): Set<DeployState> => {
      if (!seen.has(state)) {
        seen.add(state);
        for (const next of transitions[state]) reach(next, seen);
      }
      return seen;
    };
    for (const state of deployStates.filter((one) => !isOver(one))) {
      expect([...reach(state)].filter(isOver)).toContain('rolled-back');
    }
  });

  it('lead to done only through the time in which the release is watched', () => {
    expect(deployStates.filter((state) => transitions[state].includes('done'))).toEqual(['kept']);
  });
});

describe('a journal', () => {
  it('has each run with its last state, why it was rolled back, and its steps', () => {
    const cause = { kind: 'guard', guard: 'exit', text: 'orders-2 ended' };
    const [first, second] = runsIn([
      planned('a'),
      later('a', { kind: 'state', state: 'building' }),
      planned('b'),
      later('a', { kind: 'step', text: 'replace orders-1' }),
      later('a', { kind: 'paused' }),
      later('b', { kind: 'state', state: 'rolling-back', cause }),
      later('b', { kind: 'state', state: 'rolled-back' }),
    ]);
    expect(first).toMatchObject({ id: 'a', state: 'building', isPaused: true, changedAt: '2026-11-24T09:00:05.000Z' });
    expect(first?.steps.map(({ text }) => text)).toEqual(['replace orders-1']);
    expect(second).toMatchObject({ id: 'b', state: 'rolled-back', cause, isDirty: false });
  });

  it('leaves out a run whose beginning is not kept any more', () => {
    expect(runsIn([later('a', { kind: 'state', state: 'kept' })])).toEqual([]);
  });
});
