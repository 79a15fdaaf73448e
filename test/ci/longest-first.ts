import { basename } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files with whole platforms that take 40 s and more on two cores, the longest first. Vitest knows durations from the run before;
 * in a fresh clone it begins with the largest file, and a long one that is short ends the run alone.
 */
export const longest = [
  'crash-recovery',
  'dependency-outage',
  'cli-interrupted',
  'chaos-platforms',
  'chaos-run',
  'cli-platform',
  'recipe-service',
  'edit',
  'chaos-faults',
  'tutorial',
  'releases',
  'watch',
  'graceful-restart',
  'chaos-faults-more',
].map((name) => `${name}.e2e.test.ts`);

/** Vitest's order, but for these files, which each project begins with. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byProject = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    return [...byProject.values()].flatMap((ofProject) => {
      const nameOf = ({ moduleId }: TestSpecification) => basename(moduleId);
      const first = longest.flatMap((name) => ofProject.filter((file) => nameOf(file) === name));
      return [...first, ...ofProject.filter((file) => !longest.includes(nameOf(file)))];
    });
  }
}
