import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';

interface BuildScript {
  repeatedBuild(): Promise<{ targetsOf(file: string): readonly string[]; dispose(): Promise<void> }>;
}
const script = (await import(pathToFileURL(join(cloneRoot(), 'scripts/build.mjs')).href)) as BuildScript;

it('a saved file belongs to the services that are built from it', async () => {
  const { targetsOf, dispose } = await script.repeatedBuild();
  const own = (file: string) => targetsOf(file).filter((name) => !name.endsWith('-instrumented'));
  expect(own('services/orders/src/routes.ts')).toEqual(['orders']);
  expect(own('services/orders/package.json')).toEqual(['orders']);
  expect(own('services/orders/package.json.orig')).toEqual([]);
  expect(own('kit/src/pause.ts')).toEqual(expect.arrayContaining(['orders', 'stock']));
  expect(own('migrations/orders/0009_new.sql')).toEqual([]);
  await dispose();
});
