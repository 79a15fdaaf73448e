import { MAX_LINES, MAX_QUANTITY } from '@shop/kit/order-api.ts';
import { ProblemError } from '@shop/kit/problems.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashRequest, mergeLines, priceLines, totalKopiykas } from './order.ts';

const priced = (productId: number, quantity: number, priceKopiykas: number) => ({ productId, quantity, priceKopiykas });

function problemOf(work: () => unknown): ProblemError {
  try {
    work();
  } catch (error) {
    if (error instanceof ProblemError) return error;
    throw error;
  }
  throw new Error('no problem was thrown');
}

const requestedLines = fc.array(
  fc.record({ productId: fc.integer({ min: 1, max: 12 }), quantity: fc.integer({ min: 1, max: 10 }) }),
  { minLength: 1, maxLength: MAX_LINES },
);

describe('merging lines', () => {
  it('makes lines of one product one, where the first of them stood', () => {
    const lines = [
      { productId: 7, quantity: 1 },
      { productId: 3, quantity: 2 },
      { productId: 7, quantity: 4 },
    ];
    expect(mergeLines(lines)).toEqual([
      { productId: 7, quantity: 5 },
      { productId: 3, quantity: 2 },
    ]);
  });

  it('keeps the number of units and names each product once', () => {
    fc.assert(
      fc.property(requestedLines, (lines) => {
        const merged = mergeLines(lines);
        const units = (all: typeof lines) => all.reduce((sum, { quantity }) => sum + quantity, 0);
        expect(units([...merged])).toBe(units(lines));
        expect(new Set(merged.map(({ productId }) => productId)).size).toBe(merged.length);
      }),
    );
  });

  it(`takes ${MAX_QUANTITY} units of a product in several lines`, () => {
    const lines = [
      { productId: 1, quantity: MAX_QUANTITY - 1 },
      { productId: 1, quantity: 1 },
    ];
    expect(mergeLines(lines)).toEqual([{ productId: 1, quantity: MAX_QUANTITY }]);
  });

  it('refuses more, naming every line of the product', () => {
    const lines = [
      { productId: 1, quantity: MAX_QUANTITY },
      { productId: 2, quantity: 1 },
      { productId: 1, quantity: 1 },
    ];
    const problem = problemOf(() => mergeLines(lines));
    expect(problem.code).toBe('invalid_request');
    expect(problem.errors?.map(({ pointer }) => pointer)).toEqual(['#/lines/0/quantity', '#/lines/2/quantity']);
  });
});

describe('pricing lines', () => {
  it('puts the catalog price on each line', () => {
    const lines = priceLines([{ productId: 4, quantity: 2 }], [{ id: 4, priceKopiykas: 38_000, currency: 'UAH' }]);
    expect(lines).toEqual([priced(4, 2, 38_000)]);
  });

  it('refuses products of another currency, and names each: their amounts have no sum', () => {
    const lines = [4, 5, 6].map((productId) => ({ productId, quantity: 1 }));
    const products = ['EUR', 'UAH', 'USD'].map((currency, index) => ({ id: 4 + index, priceKopiykas: 1, currency }));
    const problem = problemOf(() => priceLines(lines, products));
    expect(problem.code).toBe('unsupported_currency');
    expect(problem.message).toBe('not sold in UAH: product 4, 6');
    expect(problem.errors).toHaveLength(2);
  });

  it('names every product that does not exist', () => {
    const lines = [
      { productId: 98, quantity: 1 },
      { productId: 1, quantity: 1 },
      { productId: 99, quantity: 1 },
    ];
    const products = [undefined, { id: 1, priceKopiykas: 1, currency: 'UAH' }, undefined];
    const problem = problemOf(() => priceLines(lines, products));
    expect(problem.code).toBe('unknown_product');
    expect(problem.message).toBe('there is no product 98, 99');
    expect(problem.errors).toHaveLength(2);
  });
});

describe('the total', () => {
  it('is the sum of price times quantity in kopiykas', () => {
    expect(totalKopiykas([priced(1, 2, 10_000), priced(2, 3, 5)])).toBe(20_015);
  });

  it('may be the largest exact integer, and no more', () => {
    expect(totalKopiykas([priced(1, 1, Number.MAX_SAFE_INTEGER)])).toBe(Number.MAX_SAFE_INTEGER);
    const beyond = [priced(1, 1, Number.MAX_SAFE_INTEGER), priced(2, 1, 1)];
    expect(problemOf(() => totalKopiykas(beyond)).code).toBe('total_too_large');
  });

  it('is refused when a single line overflows', () => {
    expect(problemOf(() => totalKopiykas([priced(1, MAX_QUANTITY, Number.MAX_SAFE_INTEGER)])).code).toBe(
      'total_too_large',
    );
  });
});

describe('the hash of a request', () => {
  it('is the same for the same request in another order of lines', () => {
    fc.assert(
      fc.property(requestedLines, fc.string(), (lines, customer) => {
        const merged = mergeLines(lines);
        expect(hashRequest(customer, merged.toReversed())).toBe(hashRequest(customer, merged));
      }),
    );
  });

  it.each([
    ['another customer', 'Olena', [{ productId: 1, quantity: 1 }]],
    ['another quantity', 'Taras', [{ productId: 1, quantity: 2 }]],
    ['another product', 'Taras', [{ productId: 11, quantity: 1 }]],
    [
      'one line more',
      'Taras',
      [
        { productId: 1, quantity: 1 },
        { productId: 2, quantity: 1 },
      ],
    ],
  ])('differs for %s', (_what, customer, lines) => {
    expect(hashRequest(customer, lines)).not.toBe(hashRequest('Taras', [{ productId: 1, quantity: 1 }]));
  });

  it('does not show the customer', () => {
    expect(hashRequest('Taras', [{ productId: 1, quantity: 1 }])).toMatch(/^[\w-]{43}$/);
  });
});
