/**
 * Goal: what the comparer lets pass breaks no client. Method: random pairs of schemas; where it finds nothing, what a
 * validator takes on one side it must take on the other.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { breaksOfSchema, type Schema } from './compare-schemas.ts';

const RUNS = 400;
const LIMIT_MS = 30_000;
const bounds = (low: string, high: string, max: number) =>
  fc.record({ [low]: fc.integer({ min: 0, max }), [high]: fc.integer({ min: 0, max }) }, { requiredKeys: [] });

const integer = bounds('minimum', 'maximum', 3).map((limits) => ({ type: 'integer', ...limits }));
const text = bounds('minLength', 'maxLength', 3).map((limits) => ({ type: 'string', ...limits }));
const choice = fc.subarray(['', 'a', 'ab'], { minLength: 1 }).map((values) => ({ type: 'string', enum: values }));
const list = fc
  .tuple(integer, bounds('minItems', 'maxItems', 2))
  .map(([items, limits]) => ({ type: 'array', items, ...limits }));
const kinds = [integer, text, choice, fc.constant({ type: 'number' }), list] as const;

/** Two versions of a field, of one kind more often than not: otherwise most changes would be of the type. */
const versions = fc.oneof(
  ...kinds.map((kind) => fc.tuple(kind, kind)),
  fc.tuple(fc.oneof(...kinds), fc.oneof(...kinds)),
);

const bodyOf = (field: Schema | undefined, isRequired: boolean, isClosed: boolean): Schema => ({
  type: 'object',
  properties: { ...(field !== undefined && { a: field }) },
  required: isRequired && field !== undefined ? ['a'] : [],
  ...(isClosed && { additionalProperties: false }),
});

/** Two versions of a body with one field, which one of them may not have. */
const pair = fc
  .tuple(
    versions,
    fc.constantFrom('both', 'both', 'both', 'old', 'next'),
    fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
  )
  .map(
    ([[old, next], has, [oldNeeds, nextNeeds, oldCloses, nextCloses]]) =>
      [
        bodyOf(has === 'next' ? undefined : old, oldNeeds === true, oldCloses === true),
        bodyOf(has === 'old' ? undefined : next, nextNeeds === true, nextCloses === true),
      ] as const,
  );

const scalars = [-1, 0, 1, 2, 3, 4, 0.5, '', 'a', 'ab', 'abc', 'abcd'];
const lists = [[], [0], [1], [3], [0, 1], [0, 1, 2], ['a']];
/** Every value is tried on every pair. */
const values: readonly object[] = [{}, ...[...scalars, ...lists].map((a) => ({ a }))];

const ajv = new Ajv2020({ strict: false, meta: false, validateSchema: false });
function takerOf(one: Schema): (candidate: object) => boolean {
  const validate = ajv.compile(one as object);
  return (candidate) => validate(candidate);
}

/** Who writes sends the fields it knows; who reads ignores the others. */
const writing = (one: Schema): Schema => ({ ...one, additionalProperties: false });
const reading = (one: Schema): Schema => ({ ...one, additionalProperties: true });

describe('the comparer', { timeout: LIMIT_MS }, () => {
  it('lets a request schema pass only when it takes what the old one took', () => {
    let passed = 0;
    fc.assert(
      fc.property(pair, ([old, next]) => {
        if (breaksOfSchema(old, next, 'request').length > 0) return;
        const sent = values.filter(takerOf(writing(old)));
        passed += sent.length;
        expect(sent.filter(takerOf(next))).toEqual(sent);
      }),
      { numRuns: RUNS },
    );
    // Pairs that break are skipped; there must be others.
    expect(passed).toBeGreaterThan(RUNS / 4);
  });

  it('lets a response schema pass only when readers of the old one can read what it sends', () => {
    let passed = 0;
    fc.assert(
      fc.property(pair, ([old, next]) => {
        if (breaksOfSchema(old, next, 'response').length > 0) return;
        const sent = values.filter(takerOf(writing(next)));
        passed += sent.length;
        expect(sent.filter(takerOf(reading(old)))).toEqual(sent);
      }),
      { numRuns: RUNS },
    );
    expect(passed).toBeGreaterThan(RUNS / 4);
  });

  it('finds nothing between a schema and itself', () => {
    fc.assert(
      fc.property(pair, fc.constantFrom('request' as const, 'response' as const), ([one], direction) => {
        expect(breaksOfSchema(one, one, direction)).toEqual([]);
      }),
    );
  });
});
