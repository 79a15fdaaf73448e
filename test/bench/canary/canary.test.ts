import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { theDefaultPlan } from '../../../cli/src/deploy/analysis/testing/plan.ts';
import { allTables } from './all-tables.ts';
import { isHigher } from './kayenta.ts';
import { renderTable, replaceTables } from './render.ts';
import { isKept } from './table.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/benchmarks/canary.md'), 'utf8');

/** Few runs of each: the page has all of them. */
const tables = allTables.map((make) => make(theDefaultPlan, { seed: 18, part: 0.005 }));

it.each(tables)('$title: what is promised holds', ({ promises }) => {
  expect(promises.length).toBeGreaterThan(0);
  expect(promises.filter((one) => !isKept(one))).toEqual([]);
});

it('the page has every table, with all its rows', () => {
  for (const { title, header, rows } of tables) {
    expect(page).toContain(`## ${title}\n`);
    expect(page).toContain(`| ${header.join(' | ')} |`);
    for (const [first] of rows) expect(page).toContain(`\n| ${first} | `);
  }
});

it('tables are put into the page at their place', () => {
  const [table] = tables;
  if (table === undefined) throw new Error('there are no tables');
  const written = replaceTables(page, renderTable(table));
  expect(replaceTables(written, renderTable(table))).toBe(written);
  expect(() => replaceTables('# A page', '')).toThrow('no <!-- canary');
});

it.each([
  ['rates that are higher', [0.02, 0.03, 0.04, 0.02, 0.05, 0.03, 0.02, 0.04], [0, 0.01, 0, 0, 0.01, 0, 0.01, 0], true],
  ['rates that are the same', [0, 0.01, 0, 0.02, 0, 0.01], [0.01, 0, 0, 0.01, 0.02, 0], false],
  ['rates without any spread', [0, 0, 0], [0, 0, 0], false],
  ['no rates', [], [0.1], false],
])('the rule that is like Kayenta rolls back %s: %s', (_title, experiment, control, isBack) => {
  expect(isHigher(experiment, control)).toBe(isBack);
});
