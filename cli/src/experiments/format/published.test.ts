import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { faults } from '../../chaos/catalog.ts';
import { cloneRoot } from '../../platform/project.ts';
import { type JsonSchema, mapSubschemas } from '../../yaml/share.ts';
import { publishedSchema } from './published.ts';

const experiments = globSync('chaos/**/*.yaml', { cwd: cloneRoot() });

interface Validate {
  (value: unknown): boolean;
  errors?: unknown;
}

const minimal = `
version: shop.chaos/v1
id: mine
title: An experiment
why: because
method:
  - {name: wait, type: hold, for: 1s}
`;

function validator(): Validate {
  // ajv comes with a library; it is not our dependency, and only this test asks it.
  const { Ajv } = createRequire(import.meta.url)('ajv') as {
    Ajv: new (options: object) => { compile(schema: unknown): Validate };
  };
  return new Ajv({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    strictTuples: false,
    allowUnionTypes: true,
  }).compile(JSON.parse(publishedSchema()));
}

describe('chaos/schema.json', () => {
  it('knows every fault with its parameters', () => {
    const text = publishedSchema();
    for (const { name } of faults) expect(text).toContain(`"${name}"`);
  });

  const validate = validator();
  const withMethod = (step: string) => parse(minimal.replace(/ {2}- .*/, `  - ${step}`));

  it.each([
    '{name: a, type: hold, for: 1s}',
    '{name: a, type: probe, provider: {type: orders, count: 5}, tolerance: {each: {response: Confirmed}}}',
    `{name: a, type: probe, provider: {type: orders, count: "\${orders}"}, tolerance: {counts: {Confirmed: "\${orders}"}}}`,
    '{name: a, type: action, provider: {type: fault, fault: latency, target: orders-payments, latency: 3s}}',
    '{name: a, type: probe, provider: {type: event, event: breaker.open, edge: orders-stock}, within: 5s}',
    `{for-each: [a, b], steps: [{name: "\${each}", type: hold, for: 1s}]}`,
    `{for-each: [{n: 1, each: {response: Confirmed}}], steps: [{name: a, type: probe, provider: {type: orders, count: "\${each.n}"}, tolerance: {each: "\${each.each}"}}]}`,
  ])('accepts %s', (step) => {
    expect(validate(withMethod(step)), JSON.stringify(validate.errors)).toBe(true);
  });

  it.each(experiments)('accepts %s', async (path) => {
    expect(validate(parse(await readFile(join(cloneRoot(), path), 'utf8'))), JSON.stringify(validate.errors)).toBe(
      true,
    );
  });

  it('has no subschema of 60 characters twice', () => {
    const seen = new Set<string>();
    const twice: unknown[] = [];
    const visit = (schema: JsonSchema): void => {
      const text = JSON.stringify(schema);
      if (text.length >= 60 && seen.has(text)) twice.push(schema);
      seen.add(text);
      mapSubschemas(schema, (one) => visit(one));
    };
    const { definitions, ...root } = JSON.parse(publishedSchema()) as { definitions: Record<string, JsonSchema> };
    for (const schema of [root, ...Object.values(definitions)]) visit(schema);
    expect(twice).toEqual([]);
  });

  it.each([
    '{name: a, type: hold, fro: 1s}',
    '{name: a, type: probe, provider: {type: orders, count: 0}, tolerance: {each: {response: Confirmed}}}',
    '{name: a, type: probe, provider: {type: orders}, tolerance: {}}',
    '{name: a, type: action, provider: {type: fault, fault: latency, target: orders-payments, lateny: 3s}}',
    '{name: a, type: action, provider: {type: fault, fault: latency, target: ordrs-payments, latency: 3s}}',
    '{name: a, type: probe, provider: {type: event, event: breaker.opened, edge: orders-stock}}',
    `{for-each: [], steps: [{name: "\${each}", type: hold, for: 1s}]}`,
    '{for-each: [a], steps: []}',
    '{for-each: [a], events: [{event: duplicate}]}',
    `{for-each: [a], steps: [{name: "\${each}", type: hold, fro: 1s}]}`,
    `{for-each: [a], steps: [{for-each: [b], steps: [{name: "\${each}", type: hold, for: 1s}]}]}`,
  ])('refuses %s', (step) => {
    expect(validate(withMethod(step))).toBe(false);
  });
});
