/* Goal: the long files begin first, and no file is lost. Method: the order of files as Vitest hands them over, without results. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { LongestFirst, longest } from './longest-first.ts';

const folder = join(cloneRoot(), 'test/e2e');

function file(project: string, groupOrder: number, name: string): TestSpecification {
  const config = { isolate: true, sequence: { groupOrder } };
  return { moduleId: join(folder, name), project: { name: project, config } } as unknown as TestSpecification;
}

it('begins each project with its longest files, then has the others in the order of Vitest', async () => {
  const context = { cache: { getTestSpecificationResult: () => undefined } } as unknown as Vitest;
  const order = await new LongestFirst(context).sort([
    file('alone', 2, 'load.e2e.test.ts'),
    file('e2e', 1, 'cli-readme.e2e.test.ts'),
    file('e2e', 1, 'tutorial.e2e.test.ts'),
    file('e2e', 1, 'bad-input.e2e.test.ts'),
    file('e2e', 1, 'crash-recovery.e2e.test.ts'),
  ]);
  expect(order.map(({ project, moduleId }) => `${project.name} ${basename(moduleId, '.e2e.test.ts')}`)).toEqual([
    'e2e crash-recovery',
    'e2e tutorial',
    'e2e bad-input',
    'e2e cli-readme',
    'alone load',
  ]);
});

it('names files that there are', () => {
  expect(longest.filter((name) => !existsSync(join(cloneRoot(), name)))).toEqual([]);
});
