import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { publishedSchema } from '../../cli/src/slo/schema.ts';

const files = globSync('dashboards/slos/*.yaml', { cwd: cloneRoot() });
const textOf = (file: string) => readFileSync(join(cloneRoot(), file), 'utf8');

describe('dashboards/slos/schema.json', () => {
  const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(JSON.parse(publishedSchema()));

  it.each(files)('accepts %s', (file) => {
    expect(validate(parse(textOf(file))), JSON.stringify(validate.errors)).toBe(true);
  });

  it.each([
    ['kind: SLO', 'kind: Service'],
    ['service: ', 'servce: '],
    ['threshold: 14.4', 'threshold: 0'],
    ['alertAfter: 5m', 'alertAfter: 5 minutes'],
    ['severity: page', 'severity: critical'],
  ])('refuses "%s" as "%s"', (from, to) => {
    expect(validate(parse(textOf('dashboards/slos/orders-latency.yaml').replace(from, to)))).toBe(false);
  });
});
