import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allPairs, leftOutFaults, planPairs } from '../../cli/src/alert-matrix/pair.ts';
import { cloneRoot } from '../../cli/src/platform/project.ts';

const page = await readFile(join(cloneRoot(), 'docs/alerts.md'), 'utf8');

it('docs/alerts.md lists the faults that the matrix leaves out, with the number of their pairs and the reason', () => {
  const pairs = allPairs();
  const numberOf = (name: string) => pairs.filter(({ fault }) => fault === name).length;
  const rows = [...leftOutFaults].map(([fault, { others, why, measuredOn }]) => {
    const named = others.map((name) => `\`${name}\``).join(', ');
    return `| \`${fault}\` | ${numberOf(fault) - 1} | ${measuredOn} | ${named} | ${why} |`;
  });
  const section = page.slice(page.indexOf('### What is left out'), page.indexOf('### Expectations'));
  expect(section.split('\n').filter((line) => line.startsWith('| `'))).toEqual(rows);
});

it('docs/alerts.md says how many pairs that are', () => {
  const { pairs, leftOut } = planPairs({});
  expect(page).toContain(`: ${leftOut} of ${allPairs().length} pairs (`);
  expect(page).toContain(`minutes for the ${pairs.length} pairs`);
});
