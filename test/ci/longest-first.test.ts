/* Goal: the long files begin first, and no file is lost. Method: the order of files as Vitest hands them over, without results. */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import type { TestSpecification, Vitest } from 'vitest/node';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { LongestFirst, longest } from './longest-first.ts';

const folder = join(cloneRoot(), 'test/e2e');

function file(project: string, groupOrder: number, name: string, isolate = true): TestSpecification {
  const config = { isolate, sequence: { groupOrder } };
  return { moduleId: join(folder, name), project: { name: project, config } } as unknown as TestSpecification;
}

const context = { cache: { getTestSpecificationResult: () => undefined } } as unknown as Vitest;

it('begins each project with its longest files, then has the others in the order of Vitest', async () => {
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

it('begins with the files that have a process each, so that the others keep theirs', async () => {
  const order = await new LongestFirst(context).sort([
    file('e2e', 2, 'tutorial.e2e.test.ts', false),
    file('units', 1, 'watch.e2e.test.ts', false),
    file('units-isolated', 1, 'isolation.e2e.test.ts', true),
  ]);
  expect(order.map(({ project }) => project.name)).toEqual(['units-isolated', 'units', 'e2e']);
});

it('names files that there are', () => {
  expect(longest.filter((name) => !existsSync(join(cloneRoot(), name)))).toEqual([]);
});
