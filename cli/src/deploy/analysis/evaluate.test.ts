import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluate, type Rollout } from './evaluate.ts';
import type { Evidence } from './evidence.ts';
import type { GuardReading } from './guards.ts';
import type { CanaryPlan } from './plan.ts';
import { describeReason } from './reasons.ts';
import { someEvidence } from './testing/evidence.ts';

const plan: CanaryPlan = {
  service: 'orders',
  baseline: 'running',
  steps: [
    { share: 0.05, requests: 100, forMs: 20_000 },
    { share: 0.5, requests: 600, forMs: 20_000 },
  ],
  limitMs: 600_000,
  errors: { alpha: 0.008, tolerate: 1 },
  slow: { alpha: 0.002, tolerate: 1.25, above: 0.95, warmUp: 50 },
  margin: 0.01,
  guards: ['exit', 'audit'],
};

const held = (guard: GuardReading['guard']): GuardReading => ({ guard, at: 1_000, state: 'held', detail: 'as before' });

const of = (arm: Evidence['arm'], changes: Partial<Evidence>): Evidence => ({
  at: 1_000,
  arm,
  share: 0.05,
  requests: 0,
  bad: 0,
  slow: 0,
  ...changes,
});

/** A rollout of a good release in its first step, all of it there for the next one at 60 s. */
function aRollout(changes: Partial<Rollout> = {}): Rollout {
  return {
    plan,
    stepsBegan: [0],
    evidence: [of('canary', { requests: 120 }), of('stable', { requests: 2_000 })],
    guards: [held('exit'), held('audit')],
    readAt: 60_000,
    ...changes,
  };
}

const lastStep = { stepsBegan: [0, 30_000] };
const enough = [
  of('canary', { requests: 700, share: 0.5, slow: 30 }),
  of('stable', { requests: 700, share: 0.5, slow: 35 }),
];

function decide(rollout: Rollout, now = 60_000) {
  const { decision, reasons } = evaluate(rollout, now);
  return [decision, ...reasons.map(describeReason)];
}

describe('a canary', () => {
  it('takes the next step when its requests and its time are there', () => {
    expect(decide(aRollout())).toEqual(['step']);
  });

  it('is held while requests or time are missing, and both are named', () => {
    const evidence = [of('canary', { requests: 19 })];
    expect(decide(aRollout({ evidence, readAt: 5_000 }), 5_000)).toEqual([
      'hold',
      '19 of 100 requests',
      '5 of 20 s in this step',
    ]);
    expect(decide(aRollout({ evidence: [], readAt: 30_000 }), 30_000)).toEqual(['hold', '0 of 100 requests']);
  });

  it('is inconclusive at the limit, with what is missing', () => {
    expect(decide(aRollout({ evidence: [], readAt: 600_000 }), 600_000)).toEqual(['inconclusive', '0 of 100 requests']);
  });

  it('is promoted after the last step, once its excess is shown to be within the margin', () => {
    expect(decide(aRollout({ ...lastStep, evidence: enough }))).toEqual(['promote']);
  });

  it('is held in the last step until then', () => {
    const evidence = [
      of('canary', { requests: 700, bad: 14, share: 0.5 }),
      of('stable', { requests: 700, bad: 14, share: 0.5 }),
    ];
    expect(decide(aRollout({ ...lastStep, evidence }))).toEqual([
      'hold',
      'not shown yet that its error rate exceeds the stable one by less than 1 % (evidence 1.2 of 20)',
    ]);
  });

  it('is rolled back when failures are more likely there', () => {
    const evidence = [of('canary', { requests: 2, bad: 1 }), of('canary', { at: 3_000, requests: 2, bad: 1 })];
    expect(decide(aRollout({ evidence }))).toEqual([
      'rollback',
      'failed requests: evidence 128.6 against the canary, the limit is 125',
    ]);
  });

  it('is not rolled back by failures of one moment, and not promoted either', () => {
    const evidence = [of('canary', { requests: 700, bad: 5 }), ...enough];
    expect(decide(aRollout({ ...lastStep, evidence }))[0]).toBe('hold');
    expect(decide(aRollout({ ...lastStep, evidence }))[1]).toBe(
      'failed requests of the canary span 0ms, less than 2s: one bad moment of an instance does not decide',
    );
  });

  it('is rolled back when slow requests are more likely there', () => {
    const slow = (at: number) => [
      of('canary', { at, requests: 50, slow: 10 }),
      of('stable', { at, requests: 950, slow: 48 }),
    ];
    expect(decide(aRollout({ evidence: [1_000, 4_000, 7_000].flatMap(slow) }))[0]).toBe('rollback');
  });

  it('is not rolled back by slow requests of one moment, however many, and goes no step further', () => {
    const slow = (at: number, canary: number, stable: number) => [
      of('canary', { at, requests: 50, slow: canary, share: 0.5 }),
      of('stable', { at, requests: 50, slow: stable, share: 0.5 }),
    ];
    // Ordinary slow ones before and after it.
    const evidence = [...slow(1_000, 1, 2), ...slow(5_000, 48, 0), ...slow(6_000, 20, 1), ...slow(9_000, 2, 1)];
    const [decision, ...reasons] = decide(aRollout({ evidence }));
    expect(decision).toBe('hold');
    expect(reasons.join()).toMatch(/slow requests: evidence [\d.]+ against the canary without those of 2s/);
  });

  it('is rolled back by a guard immediately, whatever the tests say, and stays so', () => {
    const exited: GuardReading = { guard: 'exit', at: 2_000, state: 'tripped', detail: 'orders-3 exited with 1' };
    const guards = [exited, held('exit'), held('audit')];
    expect(decide(aRollout({ ...lastStep, evidence: enough, guards }))).toEqual([
      'rollback',
      'guard exit: orders-3 exited with 1',
    ]);
  });
});

describe('missing evidence', () => {
  it('of a guard is unknown, and holds', () => {
    expect(decide(aRollout({ guards: [held('exit')] }))).toEqual([
      'hold',
      'guard audit is unknown (its orders have no violation): it has not been read yet',
    ]);
    const unread: GuardReading = { guard: 'audit', at: 2_000, state: 'unknown', detail: 'no database' };
    expect(decide(aRollout({ guards: [held('exit'), held('audit'), unread] }))[0]).toBe('hold');
  });

  it('of all requests is unknown, and holds', () => {
    for (const readAt of [undefined, 49_000]) {
      expect(decide(aRollout({ readAt }))).toEqual(['hold', 'outcomes have not been read for 10 s']);
    }
  });

  it('of slowness is unknown, and no promotion', () => {
    const evidence = enough.map((line) => ({ ...line, slow: null }));
    expect(decide(aRollout({ ...lastStep, evidence }))).toEqual([
      'hold',
      'slowness is unknown before 50 requests of the canary',
    ]);
  });

  it('is never a promotion', () => {
    fc.assert(
      fc.property(someEvidence, fc.nat(700_000), (evidence, now) => {
        expect(evaluate(aRollout({ ...lastStep, evidence, readAt: undefined }), now).decision).not.toBe('promote');
        expect(evaluate(aRollout({ ...lastStep, evidence: [], readAt: now }), now).decision).not.toBe('promote');
      }),
    );
  });
});

describe('a verdict', () => {
  it('depends on the journal alone, and not on the order of its lines', () => {
    const shuffled = someEvidence.chain((lines) =>
      fc.tuple(fc.constant(lines), fc.shuffledSubarray(lines, { minLength: lines.length })),
    );
    fc.assert(
      fc.property(shuffled, fc.nat(700_000), ([lines, others], now) => {
        const of = (evidence: Evidence[]) => evaluate(aRollout({ ...lastStep, evidence, readAt: now }), now);
        expect(of(others)).toEqual(of(lines));
      }),
    );
  });

  it('of a rollback stands when the canary fails once more, and is not promotion for it elsewhere', () => {
    fc.assert(
      fc.property(someEvidence, fc.nat(600), (evidence, second) => {
        const more = [...evidence, of('canary', { at: second * 1_000, requests: 1, bad: 1 })];
        const [before, after] = [evidence, more].map((lines) =>
          evaluate(aRollout({ ...lastStep, evidence: lines, readAt: 700_000 }), 700_000),
        );
        if (before?.decision === 'rollback') expect(after?.decision).toBe('rollback');
        if (before?.decision !== 'promote') expect(after?.decision).not.toBe('promote');
      }),
    );
  });

  it('has every number that it was decided by', () => {
    const verdict = evaluate(aRollout(), 60_000);
    expect(verdict).toMatchObject({
      canary: { requests: 120, bad: 0, slow: 0 },
      stable: { requests: 2_000, bad: 0, slow: 0 },
      tests: { errors: { logEvidence: 0, isUnknown: false }, promotion: { logLimit: Math.log(20) } },
    });
  });

  it('needs a step in force', () => {
    expect(() => evaluate(aRollout({ stepsBegan: [] }), 0)).toThrow(RangeError);
    expect(() => evaluate(aRollout({ stepsBegan: [0, 1, 2] }), 0)).toThrow(RangeError);
  });
});

it('evidence that no number holds is written all the same', () => {
  const worse = { code: 'worse', test: 'errors', logEvidence: 2_000, logLimit: Math.log(125) } as const;
  expect(describeReason(worse)).toBe('failed requests: evidence 1e+868 against the canary, the limit is 125');
});
