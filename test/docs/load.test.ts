import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
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
