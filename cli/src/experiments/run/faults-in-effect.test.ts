import { expect, it } from 'vitest';
import type { ResolvedExperiment } from '../format/schema.ts';
import { checkFaults, countDeclared, describeFaults } from './faults-in-effect.ts';
import { aFault, aJoin, aProbe } from './testing/fake-run.ts';

it('the faults of a method are counted, and nothing else of it', () => {
  const method = [aFault('a'), aProbe('p'), aJoin('j', 'p'), aFault('b'), { name: 'h', type: 'hold', for: 1 }];
  expect(countDeclared({ method } as unknown as ResolvedExperiment)).toBe(2);
});

it.each([
  ['one of them was in effect', { declared: 2, inEffect: 1 }, [], '1 of 2 faults in effect'],
  ['there is none', { declared: 0, inEffect: 0 }, [], 'no fault declared'],
  [
    'none was in effect',
    { declared: 2, inEffect: 0 },
    [{ verdict: 'unknown', reason: 'no fault was ever in effect, of 2 that the experiment declares' }],
    '0 of 2 faults in effect',
  ],
])('faults where %s', (_, faults, findings, text) => {
  expect(checkFaults(faults)).toEqual(findings);
  expect(describeFaults(faults)).toBe(text);
});
