import { type TUnsafe, Type } from 'typebox';
import type { Reading } from '../../yaml/expected.ts';

const RATE_PATTERN = '^\\d+(\\.\\d+)?/(s|m)$';

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
