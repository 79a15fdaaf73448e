import type { TObject } from 'typebox';
import { describe, expect, it } from 'vitest';
import { faults } from '../../chaos/catalog.ts';
import type { ParameterSchema } from '../../chaos/parameters.ts';
import { faultOptions, flagOf, placeholderOf } from './fault-options.ts';

const options = faultOptions(faults);
const parameters = faults.flatMap(({ name: fault, parameters }) =>
  Object.entries((parameters as TObject).properties).map(
    ([name, schema]) => [fault, name, schema as ParameterSchema] as const,
  ),
);

describe('options of chaos inject', () => {
  it.each(parameters)('%s has its parameter %s, with its help text', (fault, name, schema) => {
    const option = options.find(({ long }) => long === flagOf(name));
    expect(schema.description).toMatch(/\S/);
    expect(option?.description).toMatch(new RegExp(`(^|[,;] )${fault}(, [^:]*)?: `));
    expect(option?.description).toContain(schema.description);
    expect(option?.attributeName()).toBe(name);
  });

  it.each(parameters)('%s reads %s as every fault does that shares the option', (_, name, schema) => {
    expect(options.find(({ long }) => long === flagOf(name))?.flags).toBe(`${flagOf(name)} <${placeholderOf(schema)}>`);
  });

  it.each([
    ['--latency', '1.5s', 1_500],
    ['--offset', '-1h', -3_600_000],
    ['--every', '3', 3],
    ['--toxicity', '0.5', 0.5],
  ])('%s %s is %d', (flag, text, value) => {
    expect(options.find(({ long }) => long === flag)?.parseArg?.(text, undefined)).toBe(value);
  });

  it.each([
    ['--latency', '3', 'like 200ms'],
    ['--offset', '1', 'like 30s or -1h'],
    ['--every', '1.5', 'a whole number'],
    ['--toxicity', 'x', 'a number'],
  ])('%s refuses %s', (flag, text, why) => {
    expect(() => options.find(({ long }) => long === flag)?.parseArg?.(text, undefined)).toThrow(why);
  });
});
