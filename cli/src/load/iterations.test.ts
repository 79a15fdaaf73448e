import { describe, expect, it } from 'vitest';
import { type Phase, scenarios } from '../../../scenarios/lib/scenarios.ts';
import { checkIterations, type IterationCoverage } from './iterations.ts';
import { measurePhases } from './measured.ts';
import { records } from './testing/records.ts';

const whole = scenarios.steady.phases({ rate: 20, durationS: 15, vus: 10, hasFault: false });

/** 300 iterations were due, every n-th of them threw. */
function throwing(every: number, changes: Partial<IterationCoverage> = {}) {
  const measuredRecords = records(300, 15).filter(({ index }) => index % every !== 0);
  return checkIterations({
    phases: whole,
    measured: measurePhases(whole, measuredRecords, 1),
    hasRun: true,
    dropped: 0,
    said: [],
    ...changes,
  });
}

describe('iterations', () => {
  it('that all left records are ok, and so is one in a hundred that did not', () => {
    expect(throwing(1_000)).toMatchObject([{ verdict: 'pass' }]);
    expect(throwing(100)).toMatchObject([
      { verdict: 'pass', evidence: '3 of 300 left none or not all, at most 3 may' },
    ]);
    expect(throwing(75)).toMatchObject([{ verdict: 'fail' }]);
  });

  it('that threw in a third of all cases fail, and report what was printed', () => {
    expect(throwing(3, { said: ['', 'Error: no such thing', '\tat default', 'Error: no such thing'] })).toEqual([
      {
        group: 'k6',
        name: 'iterations of whole leave records',
        verdict: 'fail',
        evidence: '100 of 300 left none or not all, at most 3 may; Error: no such thing; at default',
      },
    ]);
  });

  it('that were dropped are reported as such, without what k6 says of its thresholds', () => {
    const said = ["thresholds on metrics 'dropped_iterations{scenario:whole}' have been crossed"];
    expect(throwing(3, { dropped: 100, said })).toMatchObject([
      { evidence: '100 of 300 left none or not all, at most 3 may; 100 were dropped in the whole run' },
    ]);
  });

  it('report no name of a customer', () => {
    const [check] = throwing(3, {
      said: ['GoError: {"customer":"Olena K","lines":[]}', '{\\"customer\\":\\"Ivan\\"}'],
    });
    expect(check?.evidence).toContain('GoError: {"customer …');
    expect(check?.evidence).not.toMatch(/Olena|Ivan/);
  });

  it('say nothing of a scenario that k6 did not run to its end', () => {
    expect(throwing(3, { hasRun: false })).toMatchObject([{ verdict: 'unknown' }]);
  });

  it('are counted in every phase that is checked, and in no other', () => {
    const phases: readonly Phase[] = scenarios.steady.phases({ rate: 10, durationS: 60, vus: 10, hasFault: true });
    const sent = phases.flatMap(({ name, durationS }) =>
      records(name === 'fault' ? 0 : durationS * 10, durationS, { phase: name }),
    );
    const found = checkIterations({
      phases,
      measured: measurePhases(phases, sent, 1),
      hasRun: true,
      dropped: 0,
      said: [],
    });
    expect(found.map(({ name, verdict }) => [name.split(' ')[2], verdict])).toEqual([
      ['before', 'pass'],
      ['fault', 'fail'],
      ['after', 'pass'],
    ]);
  });
});
