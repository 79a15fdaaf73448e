import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { budgetsOf } from '../../cli/src/experiments/format/budgets.ts';
import { eventSchemas } from '../../cli/src/experiments/format/events.ts';
import type { SchemaNode } from '../../cli/src/experiments/format/expected.ts';
import { readContracts, readExperiment } from '../../cli/src/experiments/format/load.ts';
import { Step } from '../../cli/src/experiments/format/schema.ts';
import { writeDuration } from '../../cli/src/shared/duration.ts';

const root = new URL('../../', import.meta.url).pathname;
const file = `${root}docs/experiments.md`;

const budgetTable = [
  '| budget | value |',
  '| --- | --- |',
  ...[...budgetsOf()].map(
    ([name, { value, unit }]) => `| \`budget.${name}\` | ${unit === 'ms' ? writeDuration(value) : value} |`,
  ),
].join('\n');

const eventTable = [
  '| event | keys | what happened |',
  '| --- | --- | --- |',
  ...eventSchemas.map((schema) => {
    const { event, 'at-least': _, ...keys } = schema.properties as unknown as Record<string, SchemaNode>;
    const names = Object.keys(keys).map(
      (key) => `\`${key}\`${schema.required.includes(key as never) ? '' : ' (optional)'}`,
    );
    return `| \`${event?.const}\` | ${names.join(', ')} | ${event?.description} |`;
  }),
].join('\n');

/** The page with its generated tables. */
function withTables(page: string): string {
  const put = (text: string, name: string, table: string) =>
    text.replace(new RegExp(`<!-- ${name} -->\\n\\n(\\|.*\\n)*\\n?`), () => `<!-- ${name} -->\n\n${table}\n\n`);
  return put(put(page, 'budgets', budgetTable), 'events', eventTable);
}

// `UPDATE_DOCS=1 vitest run --project units test/docs/experiments.test.ts` writes the tables.
if (process.env.UPDATE_DOCS === '1') writeFileSync(file, withTables(readFileSync(file, 'utf8')));
const page = readFileSync(file, 'utf8');

describe('docs/experiments.md', () => {
  const [example = '', repeated = ''] = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text);

  it('has an example that is valid', async () => {
    expect(readExperiment(example, { contracts: await readContracts(root) }).problems).toEqual([]);
  });

  it('has an example of repeated steps that is valid', async () => {
    const text = `version: shop.chaos/v1\nid: mine\ntitle: An experiment\nwhy: because\n${repeated}`;
    const { experiment, problems } = readExperiment(text, { contracts: await readContracts(root) });
    expect(problems).toEqual([]);
    expect(experiment?.method.map(({ name }) => name)).toContain('order without stock');
  });

  it('lists every budget and every event with its keys (UPDATE_DOCS=1 writes the tables)', () => {
    expect(page).toBe(withTables(page));
    expect(page).toContain(budgetTable);
    expect(page).toContain(eventTable);
  });

  it('names every provider with its keys', () => {
    const providers = (Step.anyOf as readonly SchemaNode[]).flatMap(({ properties }) => properties?.provider ?? []);
    for (const provider of providers.filter(({ anyOf }) => anyOf === undefined)) {
      const { type, ...keys } = provider.properties ?? {};
      for (const name of [String(type?.const), ...Object.keys(keys)])
        expect(page, name).toMatch(new RegExp(`\`[^\`]*\\b${name}\\b`));
    }
  });
});
