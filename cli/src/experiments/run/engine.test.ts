import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StepResult } from './step-result.ts';
import { aFault, aJoin, aProbe, type FakeOutcome, runFake } from './testing/fake-run.ts';

const PASSED: StepResult = { verdict: 'pass' };
const failed: StepResult = { verdict: 'fail', observed: 'otherwise' };
const unknown: StepResult = { verdict: 'unknown', observed: 'not seen' };

/** A step's end as the journal has it. */
function endOf({ records }: FakeOutcome, name: string) {
  return records.find((record) => record.type === 'step' && record.name === name && record.state === 'end');
}

describe('a run in which no fault was ever in effect', () => {
  const reason = 'no fault was ever in effect, of 1 that the experiment declares';
  const faults = [{ verdict: 'unknown', reason }] as const;

  it('is unknown, although every step passed', async () => {
    expect(await runFake({ faults })).toMatchObject({ verdict: 'unknown', reasons: [reason] });
  });

  it('says so also where a probe failed', async () => {
    const run = await runFake({ faults, result: (step) => (step === 'probe' ? failed : { verdict: 'pass' }) });
    expect(run.verdict).toBe('fail');
    expect(run.reasons).toContain(reason);
  });

  it('is not blamed for it when its method never began, or was interrupted', async () => {
    const unsteady = await runFake({ faults, result: (step) => (step === 'steady' ? unknown : { verdict: 'pass' }) });
    const interrupted = await runFake({ faults, interruptAt: 'probe' });
    for (const { reasons } of [unsteady, interrupted]) expect(reasons).not.toContain(reason);
  });
});

describe('a run whose platform loses its supervisor', () => {
  it('ends there, and is unknown rather than fail, whatever was seen of the end', async () => {
    const run = await runFake({
      method: [aFault('fault'), aProbe('first'), aProbe('second')],
      lostAt: 'first',
      result: (step) => (step === 'first' ? failed : { verdict: 'pass' }),
    });
    expect(run.verdict).toBe('unknown');
    expect(run.reasons).toContainEqual(expect.stringContaining('the supervisor was lost, during'));
    expect(run.calls).toEqual(['steady', 'fault', 'first', 'end loads', 'revert all']);
  });

  it('is dirty when it is unknown whether its fault is gone', async () => {
    const run = await runFake({ lostAt: 'probe', notReverted: ['latency on orders-payments: unknown'] });
    expect(run.verdict).toBe('dirty');
  });

  it('holds nothing of its audit against it', async () => {
    const run = await runFake({ lostAt: 'audit', audit: [{ verdict: 'fail', reason: 'I4' }] });
    expect(run).toMatchObject({ verdict: 'unknown', reasons: ['the supervisor was lost, during audit'] });
  });

  it('is fail all the same when that was seen before', async () => {
    const run = await runFake({
      method: [aProbe('first'), aProbe('second')],
      lostAt: 'second',
      result: (step) => (step === 'first' ? failed : { verdict: 'pass' }),
    });
    expect(run.verdict).toBe('fail');
  });
});

it('a journal that could not be written makes a run unknown, and its faults are reverted all the same', async () => {
  const run = await runFake({ journalProblem: 'ENOSPC: no space left on device' });
  expect(run).toMatchObject({ verdict: 'unknown', reasons: [expect.stringContaining('ENOSPC')] });
  expect(run.calls).toContain('revert all');
});

describe('verdict', () => {
  it('is pass when every step passed, nothing is left and the audit balances', async () => {
    const run = await runFake({});
    expect(run).toMatchObject({ verdict: 'pass', reasons: [] });
    expect(run.calls).toEqual(['steady', 'fault', 'probe', 'end loads', 'revert all', 'steady', 'conditions', 'audit']);
  });

  it('is fail when a probe is not within its tolerance, and the method goes on', async () => {
    const run = await runFake({
      method: [aFault('fault'), aProbe('first'), aProbe('second')],
      result: (step) => (step === 'first' ? failed : { verdict: 'pass' }),
    });
    expect(run).toMatchObject({ verdict: 'fail', reasons: ['"first": otherwise'] });
    expect(run.calls).toContain('second');
  });

  it('ends the method after a step that did not hold and says stop', async () => {
    const run = await runFake({
      method: [aProbe('first', { stop: true }), aProbe('second')],
      result: (step) => (step === 'first' ? failed : { verdict: 'pass' }),
    });
    expect(run.calls).not.toContain('second');
    expect(run.calls).toContain('revert all');
  });

  it('is unknown when a witness was not seen', async () => {
    expect(await runFake({ result: (step) => (step === 'fault' ? unknown : { verdict: 'pass' }) })).toMatchObject({
      verdict: 'unknown',
    });
  });

  it('is unknown when a failpoint was never hit', async () => {
    expect(await runFake({ pending: [{ ...unknown, step: 'fault' }] })).toMatchObject({ verdict: 'unknown' });
  });

  it('is unknown when a load that no step has ended could not be sent as it was asked for', async () => {
    const late = {
      ...unknown,
      observed: '100 orders sent, 50 of them more than 100 ms late',
      step: 'orders all the time',
    };
    expect(await runFake({ loads: [late] })).toMatchObject({
      verdict: 'unknown',
      reasons: [`"orders all the time": ${late.observed}`],
    });
  });

  it('is unknown when the system never was steady, and nothing is injected', async () => {
    const run = await runFake({ result: (step) => (step === 'steady' ? failed : { verdict: 'pass' }) });
    expect(run.verdict).toBe('unknown');
    expect(run.reasons).toContain('the system never was steady');
    expect(run.calls).toEqual(['steady', 'revert all']);
  });

  it('is dirty when something is left, whatever else failed', async () => {
    const run = await runFake({ notReverted: ['latency on orders-payments'], result: () => failed, steady: [] });
    expect(run).toMatchObject({ verdict: 'dirty' });
    expect(run.reasons[0]).toBe('latency on orders-payments');
  });

  it('is unknown when the budget is over before all was looked at', async () => {
    const run = await runFake({ overAt: 'probe' });
    expect(run).toMatchObject({ verdict: 'unknown', reasons: ['the budget was over during "probe"'] });
    expect(run.calls).not.toContain('audit');
  });

  it('is what the audit says, also when the budget ends while it waits', async () => {
    expect(await runFake({ overAt: 'audit' })).toMatchObject({ verdict: 'pass', reasons: [] });
    const findings = [{ verdict: 'fail', reason: 'I4' }] as const;
    expect(await runFake({ overAt: 'audit', audit: findings })).toMatchObject({ verdict: 'fail' });
    expect(await runFake({ overAt: 'audit', audit: new Error('its own limit is over') })).toMatchObject({
      verdict: 'unknown',
      reasons: ['the audit: its own limit is over'],
    });
  });

  it('is interrupted, after everything was reverted, and measures nothing further', async () => {
    const run = await runFake({ interruptAt: 'probe' });
    expect(run.verdict).toBe('interrupted');
    expect(run.calls).toEqual(['steady', 'fault', 'probe', 'end loads', 'revert all']);
    expect(endOf(run, 'probe')).toMatchObject({ verdict: 'unknown', observed: 'cut short' });
  });

  it('takes the findings of conditions and audit', async () => {
    const run = await runFake({
      conditions: [{ verdict: 'unknown', reason: 'breaker.open was not reached' }],
      audit: [{ verdict: 'fail', reason: 'I4 is violated' }],
    });
    expect(run).toMatchObject({ verdict: 'fail', reasons: ['I4 is violated', 'breaker.open was not reached'] });
  });
});

describe('steps', () => {
  it('look again until they hold, within their time', async () => {
    const run = await runFake({
      method: [aProbe('late', { within: 1_000 })],
      result: (_, look) => (look < 3 ? failed : { verdict: 'pass' }),
      steady: [],
    });
    expect(run.verdict).toBe('pass');
    expect(endOf(run, 'late')).toMatchObject({ verdict: 'pass', attempts: 3 });
  });

  it('must hold all the time that `for` says', async () => {
    const run = await runFake({
      method: [aProbe('shaky', { for: 2_000 })],
      result: (_, look) => (look === 4 ? failed : { verdict: 'pass' }),
      steady: [],
    });
    expect(run.verdict).toBe('fail');
  });

  it('of the background are evaluated where they are joined', async () => {
    const run = await runFake({
      method: [aProbe('beside', { background: true }), aProbe('next'), aJoin('join', 'beside')],
      result: (step) => (step === 'beside' ? failed : { verdict: 'pass' }),
    });
    expect(run).toMatchObject({ verdict: 'fail', reasons: ['"beside": otherwise'] });
    const ends = run.records.filter((record) => record.type === 'step' && record.state === 'end');
    expect(ends.map((record) => record.type === 'step' && record.name)).toEqual([
      'steady',
      'next',
      'beside',
      'join',
      'steady',
    ]);
  });

  it('of the background that no step joins are evaluated at the end of the method', async () => {
    const run = await runFake({
      method: [aProbe('beside', { background: true }), aProbe('next')],
      result: (step) => (step === 'beside' ? unknown : { verdict: 'pass' }),
    });
    expect(run.verdict).toBe('unknown');
    expect(endOf(run, 'beside')).toMatchObject({ verdict: 'unknown' });
  });
});

describe('probes of the steady state', () => {
  const anOrder = aProbe('an order', { provider: { type: 'orders' } });
  const steady = [aProbe('ready'), anOrder, aProbe('drained', { within: 1_000 }), aProbe('traced', { within: 1_000 })];
  const looks = ({ calls }: FakeOutcome) => calls.slice(0, calls.indexOf('fault'));

  it('look concurrently, after the order that they look at has its response', async () => {
    const late = ['drained', 'traced'];
    const run = await runFake({
      steady,
      result: (step, look) => (late.includes(step) && look === 1 ? failed : PASSED),
    });
    expect(run.verdict).toBe('pass');
    expect(looks(run)).toEqual(['ready', 'an order', 'drained', 'traced', 'drained', 'traced']);
  });

  it('that a later one refers to end before it begins', async () => {
    const probes = [aProbe('first', { within: 1_000 }), aProbe('since the first')];
    const result = (step: string, look: number) => (step === 'first' && look === 1 ? failed : PASSED);
    const run = await runFake({ steady: probes, referredTo: ['first'], result });
    expect(looks(run)).toEqual(['first', 'first', 'baseline first', 'since the first']);
  });

  it('each count, and those that broke off have an end in the journal', async () => {
    const run = await runFake({ steady, result: (step) => (step === 'drained' ? failed : PASSED) });
    expect(run).toMatchObject({ verdict: 'unknown', reasons: expect.arrayContaining(['"drained": otherwise']) });
    const broken = await runFake({ steady, interruptAt: 'traced', result: () => failed });
    for (const name of ['drained', 'traced']) expect(endOf(broken, name)).toMatchObject({ observed: 'cut short' });
  });
});

describe('whatever fails where', () => {
  const names = ['steady', 'drained', 'fault', 'probe', 'beside', 'recovered'];
  const kinds = ['pass', 'fail', 'unknown', 'throws', 'interrupt'] as const;
  const plans = fc.record({
    what: fc.record(Object.fromEntries(names.map((name) => [name, fc.constantFrom(...kinds)]))),
    notReverted: fc.boolean(),
    pending: fc.constantFrom('pass', 'unknown'),
  });

  it('everything is reverted once, every step that began has an end, and only evidence passes', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async ({ what, notReverted, pending }) => {
        const interruptAt = names.find((name) => what[name] === 'interrupt');
        const run = await runFake({
          steady: [aProbe('steady'), aProbe('drained')],
          method: [aFault('fault'), aProbe('beside', { background: true }), aProbe('probe')],
          recovery: [aProbe('recovered')],
          ...(interruptAt !== undefined && { interruptAt }),
          notReverted: notReverted ? ['a fault'] : [],
          pending: [{ verdict: pending as 'pass' | 'unknown', step: 'fault' }],
          result: (step) => {
            const kind = what[step] ?? 'pass';
            if (kind === 'throws') return new Error('a defect');
            return { verdict: kind === 'interrupt' ? 'pass' : kind };
          },
        });
        expect(run.calls.filter((call) => call === 'revert all')).toHaveLength(1);
        const steps = run.records.filter((record) => record.type === 'step');
        const began = steps.filter(({ state }) => state === 'begin').map(({ name, phase }) => `${phase} ${name}`);
        const ended = steps.filter(({ state }) => state === 'end').map(({ name, phase }) => `${phase} ${name}`);
        expect(ended.toSorted()).toEqual(began.toSorted());
        if (notReverted) expect(run.verdict).toBe('dirty');
        const isFlawless = names.every((name) => what[name] === 'pass') && pending === 'pass' && !notReverted;
        expect(run.verdict === 'pass').toBe(isFlawless);
      }),
      { numRuns: 300 },
    );
  });
});
