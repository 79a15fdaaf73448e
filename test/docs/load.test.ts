import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { aResult } from '../../cli/src/load/testing/result.ts';
import { scenarioNames, scenarios } from '../../scenarios/lib/scenarios.ts';

const page = readFileSync(new URL('../../docs/load.md', import.meta.url), 'utf8');

it('docs/load.md lists exactly the scenarios that exist, with their rate, duration and users', () => {
  const documented = [...page.matchAll(/^\| `([a-z-]+)`\s*\|\s*(\S+)\s*\|\s*(\d+)s\s*\|\s*(\d+)\s*\|/gm)].map(
    ([, name, rate, duration, vus]) => `${name} ${rate} ${duration} ${vus}`,
  );
  const existing = scenarioNames.map((name) => {
    const { rate, durationS, vus } = scenarios[name].defaults;
    return `${name} ${rate === 0 ? '-' : `${rate}/s`} ${durationS} ${vus}`;
  });
  expect(documented).toEqual(existing);
});

it('docs/load.md names every phase with a fault', () => {
  for (const { name } of scenarios.steady.phases({ ...scenarios.steady.defaults, hasFault: true }))
    expect(page).toContain(`| \`${name}\``);
});

/** Rows of the table of `--json`: the words of its cells that are written as code. */
const rows = page
  .slice(page.indexOf('## `--json`'))
  .split('\n')
  .filter((line) => /^\| .*`/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, 3)
      .map((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, word = '']) => word)),
  );

it('docs/load.md lists exactly the keys of --json', () => {
  expect(new Set(rows.flatMap(([keys = []]) => keys))).toEqual(new Set(Object.keys(aResult)));
});

/** All keys at any depth. */
function keysOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...keysOf(inner)]);
}

it.each(['orders', 'usage', 'outbox'] as const)('docs/load.md names keys of %s that there are in --json', (key) => {
  const words = rows.filter(([keys = []]) => keys.includes(key)).flatMap(([, held = []]) => held);
  expect(words.length).toBeGreaterThan(1);
  expect(keysOf(aResult[key])).toEqual(expect.arrayContaining(words));
});
