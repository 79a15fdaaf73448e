import { readCoverage } from '../../chaos/coverage.ts';
import type { Project } from '../../platform/project.ts';

/** Hits of every failpoint, `orders.stock-reserved:unsaved`, over all platforms that a run used. */
export type Reached = Map<string, number>;

/** Adds what was counted on a platform; its counts go when it is taken down. */
export async function addReached(reached: Reached, project: Project): Promise<void> {
  for (const { failpoint, hits } of await readCoverage(project)) {
    reached.set(failpoint, (reached.get(failpoint) ?? 0) + hits);
  }
}

/** Failpoints that were never hit. */
export function neverReached(reached: Reached): readonly string[] {
  return [...reached].filter(([, hits]) => hits === 0).map(([failpoint]) => failpoint);
}

/** `40 of 40 failpoints were reached` */
export function describeReached(reached: Reached): string {
  const missing = neverReached(reached);
  const count = `${reached.size - missing.length} of ${reached.size} failpoints were reached`;
  return missing.length === 0 ? count : `${count}; never: ${missing.join(', ')}`;
}
