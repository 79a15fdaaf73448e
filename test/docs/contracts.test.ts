import { readFileSync } from 'node:fs';
import { flags } from '@shop/kit/flag-names.ts';
import { expect, it } from 'vitest';
import { rules } from '../migrations/lint.ts';

const page = readFileSync(new URL('../../docs/contracts.md', import.meta.url), 'utf8');
const firstCells = (section: string) =>
  [...(page.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '').matchAll(/^\| `([a-z0-9-]+)`/gm)].map(
    ([, name]) => name,
  );

it('docs/contracts.md lists exactly the rules of the linter of migrations', () => {
  expect(firstCells('Migrations').toSorted()).toEqual([...rules].toSorted());
});

it('docs/contracts.md lists exactly the feature flags that exist', () => {
  expect(firstCells('Feature flags').toSorted()).toEqual(Object.keys(flags).toSorted());
});
