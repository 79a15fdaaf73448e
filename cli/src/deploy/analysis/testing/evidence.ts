import fc from 'fast-check';
import type { Evidence } from '../evidence.ts';

/** Some lines of a rollout, in any order. */
export const someEvidence: fc.Arbitrary<Evidence[]> = fc.array(
  fc
    .record({
      at: fc.integer({ min: 0, max: 600 }).map((second) => second * 1_000),
      arm: fc.constantFrom('canary' as const, 'stable' as const),
      share: fc.constantFrom(0.01, 0.05, 0.25, 0.5, 0.99),
      good: fc.integer({ min: 0, max: 10_000 }),
      bad: fc.integer({ min: 0, max: 200 }),
      slow: fc.option(fc.integer({ min: 0, max: 200 })),
    })
    .map(({ good, bad, slow, ...line }) => ({ ...line, bad, slow, requests: good + bad + (slow ?? 0) })),
  { maxLength: 30 },
);
