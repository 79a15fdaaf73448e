import { type Static, type TProperties, type TSchema, type TUnsafe, Type } from 'typebox';

/**
 * How text in a file becomes a value. `duration`, `number` and `bound` (either of them) are expressions (expression.ts).
 * Kept in the schema under `reads`; not part of the published one.
 */
export type Reading = 'duration' | 'signed duration' | 'number' | 'bound' | 'rate' | 'fault';

/** What a list that may hold for-each blocks repeats; kept in the schema under `repeats`. */
export type Repeated = 'steps' | 'events';

const RATE_PATTERN = '^\\d+(\\.\\d+)?/(s|m)$';

/** A closed object: a key it does not know is an error. */
export function closed<P extends TProperties>(properties: P, options: object = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** May be left out of the file and is then what its `default` says; never missing once it was read. */
export function defaulted<S extends TSchema>(schema: S): TUnsafe<Static<S>> {
  return Type.Optional(schema) as unknown as TUnsafe<Static<S>>;
}

/** Text with a unit (`200ms`, `3s`, `1m`) or an expression of durations, read as ms. A plain number is none. */
export function duration(description: string, options: { readonly default?: string } = {}): TUnsafe<number> {
  const text = Type.String({ minLength: 1, description, ...options, reads: 'duration' satisfies Reading });
  return Type.Unsafe<number>(text);
}

/** `20/s`, `90/m`, read as a number per second. */
export function rate(description: string): TUnsafe<number> {
  return Type.Unsafe<number>(Type.String({ pattern: RATE_PATTERN, description, reads: 'rate' satisfies Reading }));
}

/** A duration or an expression of durations (`budget.orders-payments.call + 300ms`), read as ms. */
export const DurationBound = Type.Unsafe<number>(
  Type.String({
    minLength: 1,
    description: 'a duration or an expression of durations',
    reads: 'duration' satisfies Reading,
  }),
);

/** A number or an expression of numbers, read as the number. */
export const NumberBound = Type.Unsafe<number>(
  Type.Union([Type.Number(), Type.String({ minLength: 1 })], {
    description: 'a number or an expression of numbers',
    reads: 'number' satisfies Reading,
  }),
);

/** A number, a duration (read as ms) or an expression of either. */
export const Bound = Type.Unsafe<number>(
  Type.Union([Type.Number(), Type.String({ minLength: 1 })], {
    description: 'a number, a duration (counted in ms) or an expression of either',
    reads: 'bound' satisfies Reading,
  }),
);

export const Scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], {
  description: 'a text, a number, true, false or null',
});

/** Refers to a step by its name; which kinds of steps it may be is checked once the whole file was read. */
export function stepName(description: string) {
  return Type.String({ minLength: 1, description });
}

/** One word of several. */
export function oneOf<const Words extends readonly string[]>(
  words: Words,
  description: string,
  options: { readonly default?: Words[number] } = {},
): TUnsafe<Words[number]> {
  return Type.Unsafe<Words[number]>(Type.Enum([...words], { description, ...options }));
}
