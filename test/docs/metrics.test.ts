import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url).pathname;

it('docs/metrics.md names every shop.* instrument that the sources create, and no other', () => {
  const page = readFileSync(`${root}docs/metrics.md`, 'utf8');
  const documented = [...page.matchAll(/`(shop\.[a-z.]+)`/g)].map(([, name]) => name);
  const sources = globSync('{kit,services/*}/src/**/*.ts', { cwd: root }).filter((path) => !path.endsWith('.test.ts'));
  const created = sources.flatMap((path) =>
    [...readFileSync(`${root}${path}`, 'utf8').matchAll(/create\w+\(\s*'(shop\.[a-z.]+)'/g)].map(([, name]) => name),
  );
  expect([...new Set(documented)].toSorted()).toEqual([...new Set(created)].toSorted());
});
