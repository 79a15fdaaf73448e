import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { createMatcher, matchesAll, writeMatcher } from './matcher.ts';
import { parseMatcher } from './parse-matcher.ts';

const written = (text: string) => {
  const { name, value, isRegex, isEqual } = parseMatcher(text);
  return { name, value, operator: isRegex ? (isEqual ? '=~' : '!~') : isEqual ? '=' : '!=' };
};
const matches = (text: string, value: string) => parseMatcher(text).matches(value);

describe('a matcher', () => {
  // From Alertmanager's pkg/labels/parse_test.go and matcher/compat/parse_test.go.
  it.each([
    ['foo=bar', 'foo', '=', 'bar'],
    ['foo="bar"', 'foo', '=', 'bar'],
    [' foo != "bar" ', 'foo', '!=', 'bar'],
    ['foo=~"b.*"', 'foo', '=~', 'b.*'],
    ['foo!~bar', 'foo', '!~', 'bar'],
    ['foo=', 'foo', '=', ''],
    ['foo=""', 'foo', '=', ''],
    ['foo=a=b', 'foo', '=', 'a=b'],
    ['foo=~', 'foo', '=~', ''],
    ['foo:bar_1=x', 'foo:bar_1', '=', 'x'],
    ['foo="a\\"b"', 'foo', '=', 'a"b'],
    ['foo="a\\nb"', 'foo', '=', 'a\nb'],
    ['foo="a\\\\b"', 'foo', '=', 'a\\b'],
    ['foo=a\\d', 'foo', '=', 'a\\d'],
    ['foo=a\\', 'foo', '=', 'a\\'],
    ['foo="a b, c"', 'foo', '=', 'a b, c'],
    ['"foo bar"="x"', 'foo bar', '=', 'x'],
    ['foo.bar=x', 'foo.bar', '=', 'x'],
    ['"f\\u00fc\\x21"!~"\\t"', 'fü!', '!~', '\t'],
    ['Straße="x"', 'Straße', '=', 'x'],
  ])('is read from %s', (text, name, operator, value) => {
    expect(written(text)).toEqual({ name, operator, value });
  });

  it.each([
    ['foo', 'bad matcher format: foo'],
    ['', 'bad matcher format: '],
    ['=bar', 'bad matcher format: =bar'],
    ['foo="bar', 'matcher value contains unescaped double quote: "bar'],
    ['foo=b"ar', 'matcher value contains unescaped double quote: b"ar'],
    ['{foo=bar}', 'unexpected open or close brace: {foo=bar}'],
    ['foo=~"(?=x)"', 'error parsing regexp: invalid or unsupported Perl syntax: `(?=`'],
    ['foo=~"("', 'error parsing regexp: missing closing ): `^(?:()$`'],
    ['"a\\q"=x', 'bad matcher format: "a\\q"=x'],
  ])('is not read from %s', (text, message) => {
    expect(() => parseMatcher(text)).toThrow(message);
  });

  it('has the syntax of RE2, not of JavaScript', () => {
    expect(matches('a=~"(?i)FOO"', 'foo')).toBe(true);
    expect(matches('a=~"[[:digit:]]+"', '42')).toBe(true);
    expect(matches('a=~"\\\\pL+"', 'äö')).toBe(true);
    expect(matches('a=~"a.c"', 'a\nc')).toBe(false);
    expect(matches('a=~"(?s)a.c"', 'a\nc')).toBe(true);
    // In JavaScript `$` matches before the end of a line with the flag `m` alone; in Perl also before a last one.
    expect(matches('a=~"a"', 'a\n')).toBe(false);
  });

  it('takes an absent label as an empty one', () => {
    expect(matchesAll([parseMatcher('edge=""')], { a: 'x' })).toBe(true);
    expect(matchesAll([parseMatcher('edge!=""')], { a: 'x' })).toBe(false);
    expect(matchesAll([parseMatcher('edge=~".*"')], {})).toBe(true);
    expect(matchesAll([parseMatcher('edge!~".+"')], {})).toBe(true);
    expect(matchesAll([parseMatcher('constructor=""')], {})).toBe(true);
  });

  it('takes time in proportion to the text, whatever the pattern', () => {
    const steps = (length: number) => {
      const { matches: test } = parseMatcher('a=~"(a+)+b|(a|aa)+$c"');
      return test('a'.repeat(length));
    };
    // With backtracking this would be 2^20000 steps.
    expect(steps(20_000)).toBe(false);
  });
});

describe('for all names and values', () => {
  const value = fc.string({ unit: 'grapheme', maxLength: 20 });
  const name = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,9}$/);
  const fields = fc.record({ name, value, isRegex: fc.constant(false), isEqual: fc.boolean() });

  it('a matcher is read as it was written', () => {
    fc.assert(
      fc.property(fields, (one) => {
        const { name, value, isRegex, isEqual } = parseMatcher(writeMatcher(one));
        expect({ name, value, isRegex, isEqual }).toEqual(one);
      }),
    );
  });

  it('a negation matches what the other does not', () => {
    fc.assert(
      fc.property(value, value, fc.boolean(), (pattern, text, isRegex) => {
        const quoted = isRegex ? RE2JS.quote(pattern) : pattern;
        const [equal, other] = [true, false].map((isEqual) =>
          createMatcher({ name: 'a', value: quoted, isRegex, isEqual }),
        );
        expect(equal?.matches(text)).toBe(!other?.matches(text));
      }),
    );
  });

  it('a pattern of literal characters matches that text and no other, wherever it stands', () => {
    fc.assert(
      fc.property(value, value, (literal, more) => {
        const { matches } = createMatcher({ name: 'a', value: RE2JS.quote(literal), isRegex: true, isEqual: true });
        expect(matches(literal)).toBe(true);
        expect(matches(`${literal}${more}`)).toBe(more === '');
        expect(matches(`${more}${literal}`)).toBe(more === '');
      }),
    );
  });

  it('alternatives match as each of them does', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), value, (literals, text) => {
        const either = literals.map((one) => RE2JS.quote(one)).join('|');
        const { matches } = createMatcher({ name: 'a', value: either, isRegex: true, isEqual: true });
        expect(matches(text)).toBe(literals.includes(text));
        expect(matches(literals[0] as string)).toBe(true);
      }),
    );
  });
});
