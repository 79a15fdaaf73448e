import { describe, expect, it } from 'vitest';
import { breaksOfSchema, type Direction, type Schema } from './compare-schemas.ts';

const object = (properties: Schema, required: readonly string[] = [], more: Schema = {}): Schema => ({
  type: 'object',
  properties,
  required,
  ...more,
});
const text = { type: 'string' };
const whole = { type: 'integer' };

/** Title, direction, old, new: what may change between two versions (docs/contracts.md, "What may change"). */
const allowed: readonly [string, Direction, Schema, Schema][] = [
  ['nothing', 'request', object({ a: text }, ['a']), object({ a: text }, ['a'])],
  ['a new optional field of a request', 'request', object({ a: text }), object({ a: text, b: whole })],
  ['a new field of a response', 'response', object({ a: text }), object({ a: text, b: whole }, ['b'])],
  [
    'a field that need not be sent any more',
    'request',
    object({ a: text }, ['a'], { additionalProperties: false }),
    object({ a: text }, [], { additionalProperties: false }),
  ],
  ['a field that is always sent now', 'response', object({ a: text }), object({ a: text }, ['a'])],
  ['a wider range of a request', 'request', { ...whole, minimum: 1, maximum: 9 }, { ...whole, minimum: 0 }],
  ['a narrower range of a response', 'response', { ...whole, minimum: 0 }, { ...whole, minimum: 1, maximum: 9 }],
  ['one more value in a request', 'request', { ...text, enum: ['a'] }, { ...text, enum: ['a', 'b'] }],
  ['one value less in a response', 'response', { ...text, enum: ['a', 'b'] }, { ...text, const: 'a' }],
  ['any number where an integer was sent', 'request', whole, { type: 'number' }],
  ['a pattern that is gone from a request', 'request', { ...text, pattern: '^a' }, text],
  ['one more alternative in a request', 'request', { anyOf: [text] }, { anyOf: [text, whole] }],
  ['another description', 'response', { ...text, description: 'old' }, { ...text, description: 'new' }],
];

const breaking: readonly [string, Direction, Schema, Schema, string][] = [
  ['a removed field of a request', 'request', object({ a: text }), object({}), '/a: the field was removed'],
  ['a removed field of a response', 'response', object({ a: text }, ['a']), object({}), '/a: the field was removed'],
  [
    'a renamed field',
    'request',
    object({ a: text }, ['a']),
    object({ b: text }, ['b']),
    '/a: the field was removed, /b: the field is required now',
  ],
  [
    'a field of another type',
    'response',
    object({ a: whole }),
    object({ a: text }),
    '/a: may now send the type string',
  ],
  ['a new required field', 'request', object({}), object({ a: text }, ['a']), '/a: the field is required now'],
  [
    'a field of a response that may be missing',
    'response',
    object({ a: text }, ['a']),
    object({ a: text }),
    '/a: the field may be missing now',
  ],
  [
    'a smaller maximum',
    'request',
    { ...whole, maximum: 9 },
    { ...whole, maximum: 8 },
    ': no longer takes values past maximum 8 (9)',
  ],
  [
    'a limit where there was none',
    'request',
    text,
    { ...text, maxLength: 5 },
    ': no longer takes values past maxLength 5 (no limit)',
  ],
  [
    'a larger maximum of a response',
    'response',
    { ...whole, maximum: 9 },
    { ...whole, maximum: 10 },
    ': may now send values past maximum 9 (10)',
  ],
  [
    'a value that is no longer taken',
    'request',
    { ...text, enum: ['a', 'b'] },
    { ...text, enum: ['a'] },
    ': no longer takes "b"',
  ],
  [
    'a value that no reader knows',
    'response',
    { ...text, enum: ['a'] },
    { ...text, enum: ['a', 'b'] },
    ': may now send "b"',
  ],
  [
    'another pattern',
    'request',
    { ...text, pattern: '^a' },
    { ...text, pattern: '^b' },
    ': no longer takes values of another pattern than ^b',
  ],
  ['a number where an integer was read', 'response', whole, { type: 'number' }, ': may now send the type number'],
  [
    'unknown fields refused',
    'request',
    object({ a: text }),
    object({ a: text }, [], { additionalProperties: false }),
    ': unknown fields are refused now',
  ],
  [
    'deep in a list',
    'request',
    object({ lines: { type: 'array', items: object({ id: whole }) } }),
    object({ lines: { type: 'array', items: object({ id: text }) } }),
    '/lines/*/id: no longer takes the type integer',
  ],
  [
    'an alternative that is gone',
    'request',
    { anyOf: [text, whole] },
    { anyOf: [text] },
    ': no longer takes {"type":"integer"}',
  ],
];

describe('between two versions of a schema', () => {
  it.each(allowed)('%s is allowed (%s)', (_title, direction, old, next) => {
    expect(breaksOfSchema(old, next, direction)).toEqual([]);
  });

  it.each(breaking)('%s breaks (%s)', { tags: ['deliberate-break'] }, (_title, direction, old, next, expected) => {
    expect(breaksOfSchema(old, next, direction).join(', ')).toBe(expected);
  });

  it('a keyword that the comparer does not know is an error, not a pass', () => {
    const next = object({ a: { ...text, contentEncoding: 'base64' } });
    expect(() => breaksOfSchema(object({ a: text }), next, 'request')).toThrow(
      '/a: the comparer does not know the keyword "contentEncoding"',
    );
  });
});
