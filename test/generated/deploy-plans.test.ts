import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { refusalOf } from '../../cli/src/deploy/analysis/arithmetic.ts';
import { loadPlanOf } from '../../cli/src/deploy/analysis/load-plan.ts';
import { guards } from '../../cli/src/deploy/analysis/plan.ts';
import { canaryServices, publishedPlanSchema } from '../../cli/src/deploy/analysis/plan-schema.ts';
import { readPlan } from '../../cli/src/deploy/analysis/read-plan.ts';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { expectGenerated } from './expect-generated.ts';

const textOf = (file: string) => readFileSync(join(cloneRoot(), file), 'utf8');

describe('deploy/plans/schema.json', () => {
  const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(JSON.parse(publishedPlanSchema()));

  it('is what the schema of plans says', () => expectGenerated('deploy/plans/schema.json', publishedPlanSchema()));

  it.each(globSync('deploy/plans/*.yaml', { cwd: cloneRoot() }))('accepts %s, which is a plan', (file) => {
    expect(validate(parse(textOf(file))), JSON.stringify(validate.errors)).toBe(true);
    expect(readPlan(textOf(file)).problems).toEqual([]);
  });

  it.each(canaryServices)('there is one of %s, which can be carried out at 30 requests a second', async (service) => {
    const plan = await loadPlanOf(service);
    expect(refusalOf(plan, 30)).toBeUndefined();
    expect(plan.guards).toEqual(guards);
  });

  it.each([
    ['strategy: canary', 'strategy: rolling'],
    ['service: orders', 'service: gateway'],
    ['weight: 1,', 'weight: 100,'],
    ['limit: 10m', 'limit: 10 min'],
    ['above: p90', 'above: p50'],
    ['[exit,', '[exits,'],
  ])('refuses "%s" as "%s"', (from, to) => {
    expect(validate(parse(textOf('deploy/plans/orders.yaml').replace(from, to)))).toBe(false);
  });
});
