import { readFileSync, writeFileSync } from 'node:fs';
import { type FailpointPlace, failpoints, failpointsOf } from '@shop/kit/failpoint-names.ts';
import { expect, it } from 'vitest';

const file = new URL('../../docs/saga.md', import.meta.url).pathname;

const table = [
  '| failpoint | passed when | lost if the process dies there | `drop-reply`, `respond` |',
  '| --- | --- | --- | --- |',
  ...Object.keys(failpoints).flatMap((service) =>
    [...failpointsOf(service)].map(
      ([name, place]) =>
        `| \`${service}.${name}\` | ${place.description} | ${place.lost} | ${actionsAt(place).join(', ')} |`,
    ),
  ),
].join('\n');

function actionsAt({ reply, canRespond }: FailpointPlace): readonly string[] {
  return [
    ...(reply === undefined ? [] : [`loses the ${reply}`]),
    ...(canRespond === undefined ? [] : ['sends any status']),
  ];
}

function withTable(page: string): string {
  return page.replace(/<!-- failpoints -->\n\n(\|.*\n)*/, () => `<!-- failpoints -->\n\n${table}\n`);
}

// `UPDATE_DOCS=1 vitest run --project units test/docs/failpoints.test.ts` writes the table.
if (process.env.UPDATE_DOCS === '1') writeFileSync(file, withTable(readFileSync(file, 'utf8')));

it('docs/saga.md has every failpoint, and no other (UPDATE_DOCS=1 writes the table)', () => {
  const page = readFileSync(file, 'utf8');
  expect(page).toBe(withTable(page));
  expect(page).toContain(table);
});
