import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readExperiment, readKnown } from '../../cli/src/experiments/format/load.ts';
import { Step } from '../../cli/src/experiments/format/schema.ts';
import type { SchemaNode } from '../../cli/src/yaml/expected.ts';

const root = new URL('../../', import.meta.url).pathname;
const file = `${root}docs/experiments.md`;

const page = readFileSync(file, 'utf8');

describe('docs/experiments.md', () => {
  const [example = '', repeated = ''] = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text);

  it('has an example that is valid', async () => {
    expect(readExperiment(example, { known: await readKnown(root) }).problems).toEqual([]);
  });

  it('has an example of repeated steps that is valid', async () => {
    const text = `version: shop.chaos/v1\nid: mine\ntitle: An experiment\nwhy: because\n${repeated}`;
    const { experiment, problems } = readExperiment(text, { known: await readKnown(root) });
    expect(problems).toEqual([]);
    expect(experiment?.method.map(({ name }) => name)).toContain('order without stock');
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
