import { describe, expect, it } from 'vitest';
import { compactJson, shareDefinitions } from './share.ts';

const text = (description: string) => ({ type: 'string', description: description.padEnd(60, '.') });
const object = (properties: object) => ({ type: 'object', properties });
const share = (schema: object, names: readonly (readonly [string, string])[] = []) =>
  shareDefinitions(schema as Record<string, unknown>, new Map(names));

describe('the definitions of a schema', () => {
  it('hold what occurs twice, by the name of its first property', () => {
    expect(share(object({ a: text('x'), b: text('x') }))).toEqual({
      ...object({ a: { $ref: '#/definitions/a' }, b: { $ref: '#/definitions/a' } }),
      definitions: { a: text('x') },
    });
  });

  it('refer to each other', () => {
    const inner = object({ t: text('x') });
    const { definitions } = share(object({ a: inner, b: inner, c: object({ u: text('x') }) }));
    expect(definitions).toEqual({ a: object({ t: { $ref: '#/definitions/t' } }), t: text('x') });
  });

  it('hold nothing that occurs only within one of them', () => {
    const inner = object({ t: text('x') });
    expect(Object.keys(share(object({ a: inner, b: inner })).definitions as object)).toEqual(['a']);
  });

  it('hold nothing shorter than a reference, and no data', () => {
    const schema = object({ a: { type: 'number' }, b: { type: 'number', default: text('x') }, c: text('x') });
    expect(share(schema)).toEqual({ ...schema, definitions: {} });
  });

  it('have the names that are given, and a number where two would have the same', () => {
    const [x, y, z] = [text('x'), text('y'), text('z')];
    const list = { anyOf: [object({ a: x }), object({ a: y, b: x }), object({ a: z, c: y, d: z })] };
    const { definitions } = share(object({ list }), [[JSON.stringify(z), 'zed']]);
    expect(definitions).toEqual({ a: x, 'a-2': y, zed: z });
  });
});

describe('compact JSON', () => {
  it('breaks only what is too long for a line', () => {
    const long = 'x'.repeat(120);
    expect(compactJson({ short: [1, { a: 2 }], long: [long, 'y'] })).toBe(
      `{\n  "short": [1,{"a":2}],\n  "long": [\n    "${long}",\n    "y"\n  ]\n}`,
    );
  });

  it('is the same value', () => {
    const value = { a: ['x'.repeat(200), null, true], b: { c: { d: 1.5 } } };
    expect(JSON.parse(compactJson(value))).toEqual(value);
  });
});
