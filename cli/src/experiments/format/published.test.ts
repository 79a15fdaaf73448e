import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { faults } from '../../chaos/catalog.ts';
import { cloneRoot } from '../../platform/project.ts';
import { publishedSchema } from './published.ts';

const file = join(cloneRoot(), 'chaos', 'schema.json');

// `UPDATE_SCHEMA=1 vitest run --project units cli/src/experiments/format/published.test.ts` writes it.
if (process.env.UPDATE_SCHEMA === '1') writeFileSync(file, publishedSchema());

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
  // ajv comes with a library; it is no dependency of ours, and only this test asks it.
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
  it('is what the format’s schemas say (UPDATE_SCHEMA=1 writes it)', () => {
    expect(readFileSync(file, 'utf8')).toBe(publishedSchema());
  });

  it('knows every fault with its parameters', () => {
    const text = publishedSchema();
    for (const { name } of faults) expect(text).toContain(`"${name}"`);
  });

  const validate = validator();
  const withMethod = (step: string) => parse(minimal.replace(/ {2}- .*/, `  - ${step}`));

  it.each([
    '{name: a, type: hold, for: 1s}',
    '{name: a, type: probe, provider: {type: orders, count: 5}, tolerance: {each: {answer: Confirmed}}}',
    `{name: a, type: probe, provider: {type: orders, count: "\${orders}"}, tolerance: {counts: {Confirmed: "\${orders}"}}}`,
    '{name: a, type: action, provider: {type: fault, fault: latency, target: orders-payments, latency: 3s}}',
    '{name: a, type: probe, provider: {type: event, event: breaker.open, edge: orders-stock}, within: 5s}',
  ])('accepts %s', (step) => {
    expect(validate(withMethod(step)), JSON.stringify(validate.errors)).toBe(true);
  });

  it.each([
    '{name: a, type: hold, fro: 1s}',
    '{name: a, type: probe, provider: {type: orders, count: 0}, tolerance: {each: {answer: Confirmed}}}',
    '{name: a, type: probe, provider: {type: orders}, tolerance: {}}',
    '{name: a, type: action, provider: {type: fault, fault: latency, target: orders-payments, lateny: 3s}}',
    '{name: a, type: action, provider: {type: fault, fault: latency, target: ordrs-payments, latency: 3s}}',
    '{name: a, type: probe, provider: {type: event, event: breaker.opened, edge: orders-stock}}',
  ])('refuses %s', (step) => {
    expect(validate(withMethod(step))).toBe(false);
  });
});
