import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { groups } from './groups.ts';
import { type Finished, missed, replaceSection, toMarkdown } from './report.ts';
import { describeTarget, number } from './section.ts';

const finished: Finished = {
  key: 'a',
  title: 'Orders',
  headers: ['case', 'orders/s'],
  rows: [['shop, 32', '231']],
  targets: [
    { what: 'of the floor', value: 0.4, atLeast: 0.5 },
    { what: 'p99 of p50', value: 2.5, atMost: 3 },
  ],
  notes: ['wired directly'],
  measured: [],
};
const machine = { cpus: '2 x CPU', memoryGb: 24, system: 'linux 6', node: 'v24', load1: 0.25 };

it('writes a table with its machine, targets and notes', () => {
  expect(toMarkdown(finished, { machine, postgres: '15.20', rounds: 3, quick: false })).toBe(`### Orders

2 x CPU, 24 GB, linux 6, Node v24, PostgreSQL 15.20, load before 0.3, 3 round(s)

| case | orders/s |
| --- | --- |
| shop, 32 | 231 |

- of the floor: 0.4 (target at least 0.5: missed)
- p99 of p50: 2.5 (target at most 3: met)
- wired directly`);
});

it('knows which targets were missed', () => {
  expect(missed([finished]).map(({ what }) => what)).toEqual(['of the floor']);
  expect(describeTarget({ what: 'x', value: Number.NaN, atMost: 1 })).toBe('x: - (target at most 1: missed)');
});

it('replaces what is between the markers of a group and nothing else', () => {
  const page = 'before\n<!-- bench:a -->\nold\n<!-- /bench:a -->\nafter\n';
  const replaced = replaceSection(page, 'a', 'new');
  expect(replaced).toBe('before\n<!-- bench:a -->\n\nnew\n\n<!-- /bench:a -->\nafter\n');
  expect(replaceSection(replaced, 'a', 'new')).toBe(replaced);
  expect(() => replaceSection(page, 'b', 'new')).toThrow('no place for group b');
});

it('has a place on the performance page for every group', async () => {
  const page = await readFile(new URL('../../docs/performance.md', import.meta.url), 'utf8');
  for (const { key } of groups) expect(replaceSection(page, key, '')).toContain(`<!-- /bench:${key} -->`);
});

it('prints three digits', () => {
  expect([0.0123456, 1.2345, 45.67, 231.4, 12_345].map(number)).toEqual(['0.0123', '1.23', '45.7', '231', '12345']);
});
