import { describe, expect, it } from 'vitest';
import { compareVerdicts, exitCodeOf, type RunVerdict, worst } from './verdict.ts';

const worstFirst = ['dirty', 'interrupted', 'fail', 'unknown', 'pass'] as const;

describe('the worst verdict', () => {
  it.each(worstFirst.map((one, index) => [one, worstFirst.slice(index)] as const))(
    'is %s, in whichever order they come',
    (one, all) => {
      expect(worst([...all].reverse())).toBe(one);
      expect([...all].reverse().sort(compareVerdicts)).toEqual(all);
    },
  );

  it('of none is a pass, and skipped checks count in no verdict', () => {
    expect(worst([])).toBe('pass');
    expect(worst(['skipped', 'unknown', 'skipped'])).toBe('unknown');
    expect(worst(['skipped'])).toBe('pass');
  });
});

it('each verdict has a separate exit code', () => {
  const codes = Object.fromEntries(worstFirst.map((verdict: RunVerdict) => [verdict, exitCodeOf(verdict)]));
  expect(codes).toEqual({ pass: 0, fail: 1, unknown: 5, dirty: 6, interrupted: 130 });
});
