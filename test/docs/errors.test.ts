import { readFileSync } from 'node:fs';
import { problems } from '@shop/kit/problems.ts';
import { expect, it } from 'vitest';

it('docs/errors.md lists exactly the problem codes that exist, with their status', () => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const documented = [...page.matchAll(/^\| `([a-z_]+)`\s*\|\s*(\d{3})\s*\|/gm)].map(
    ([, code, status]) => `${code} ${status}`,
  );
  const existing = Object.entries(problems).map(([code, { status }]) => `${code} ${status}`);
  expect(documented.toSorted()).toEqual(existing.toSorted());
});
