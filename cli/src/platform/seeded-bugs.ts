import { type SeededBugName, seededBugs } from '@shop/kit/seeded-bug-names.ts';

/** One line per seeded bug: the reader of a result must know that it is not of the real system. */
export function describeSeededBugs(names: readonly SeededBugName[] = []): string[] {
  return names.map((name) => `SEEDED BUG: ${name}: ${seededBugs[name].service} ${seededBugs[name].title}`);
}
