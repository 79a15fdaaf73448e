import { describe, expect, it } from 'vitest';
import { FlagFileError, offDefinition, parseFlagFile } from './flag-file.ts';

const name = 'publish-order-confirmed-v2';
const fileWith = (flag: unknown, more: Record<string, unknown> = {}) =>
  JSON.stringify({ ...more, flags: { [name]: flag } });

/** `path: message` of each mistake. */
function mistakesOf(text: string): readonly string[] {
  try {
    parseFlagFile(text);
    return [];
  } catch (error) {
    if (!(error instanceof FlagFileError)) throw error;
    return error.problems.map(({ path, message }) => `${path}: ${message}`);
  }
}

describe('a file of flags', () => {
  it('is read in flagd’s format, with what it holds besides flags', () => {
    const text = fileWith(
      { ...offDefinition, targeting: { $ref: 'half' }, metadata: { owner: 'team', expires: '2026-12-31' } },
      { $schema: 'https://flagd.dev/schema/v0/flags.json', $evaluators: { half: { fractional: [['on'], ['off']] } } },
    );
    expect(parseFlagFile(text)).toEqual(JSON.parse(text));
  });

  it('is read in the older format', () => {
    expect(parseFlagFile(`{"${name}": true, "other": false}`)).toEqual({
      flags: { [name]: { ...offDefinition, defaultVariant: 'on' }, other: offDefinition },
    });
    expect(parseFlagFile('{}')).toEqual({ flags: {} });
  });

  it('may have flags that this service does not know, of other types', () => {
    const colour = { state: 'ENABLED', variants: { red: '#f00', blue: '#00f' }, defaultVariant: 'red' };
    expect(mistakesOf(JSON.stringify({ flags: { colour } }))).toEqual([]);
  });

  it('reports every mistake, with its path', () => {
    const flag = {
      state: 'ON',
      variants: { on: true, off: 'no' },
      defaultVariant: 'of',
      targeting: {
        if: [
          {
            fractional: [
              ['onn', 5],
              ['off', 1.5],
            ],
          },
          { fractionl: [] },
          { $ref: 'missing' },
        ],
      },
      metadata: { owner: 1, expires: '2026-02-30', tags: [] },
    };
    const path = `flags.${name}`;
    expect(mistakesOf(fileWith(flag))).toEqual([
      `${path}.state: expected "ENABLED" or "DISABLED"`,
      `${path}.variants.off: expected true or false`,
      `${path}.defaultVariant: expected one of its variants: on, off`,
      `${path}.targeting.if[0].fractional[0][0]: "onn" is not in variants`,
      `${path}.targeting.if[0].fractional[1][1]: expected a weight, an integer of 0 or more`,
      `${path}.targeting.if[1].fractionl: is not an operator of JsonLogic or flagd`,
      `${path}.targeting.if[2].$ref: "missing" is not in $evaluators`,
      `${path}.metadata.tags: expected a text, number or boolean`,
      `${path}.metadata.owner: expected a text`,
      `${path}.metadata.expires: expected a date, YYYY-MM-DD`,
    ]);
  });

  it.each([
    ['[]', ': expected an object with "flags"'],
    ['null', ': expected an object with "flags"'],
    [`{"${name}": 1}`, `${name}: expected true or false, or all flags inside "flags"`],
    ['{"flags": []}', 'flags: expected an object'],
    [fileWith('on'), `flags.${name}: expected an object`],
    [fileWith({ state: 'ENABLED' }), `flags.${name}.variants: expected an object with a value for each variant`],
    [
      fileWith({ ...offDefinition, targeting: { fractional: [['on', 0]] } }),
      `flags.${name}.targeting.fractional: expected weights with a sum of 1 to 2147483647`,
    ],
  ])('%s is refused', (text, mistake) => {
    expect(mistakesOf(text)).toEqual([mistake]);
  });

  it('that only flagd’s schema refuses is refused', () => {
    const targeting = { sem_ver: [{ var: 'version' }, '=>', '1.0.0'] };
    expect(mistakesOf(fileWith({ ...offDefinition, targeting }))).toHaveLength(1);
  });
});
