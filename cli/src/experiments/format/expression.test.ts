import { edges } from '@shop/kit/edges.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { budgetsOf } from './budgets.ts';
import { ExpressionError, evaluate } from './expression.ts';

const budgets = budgetsOf();
const factors = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** A term as text, and its value by arithmetic of the test's own. */
const durationTerm = fc
  .record({
    factor: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
    amount: fc.integer({ min: 0, max: 1000 }),
    unit: fc.constantFrom('ms' as const, 's' as const, 'm' as const, 'h' as const),
  })
  .map(({ factor, amount, unit }) => ({
    text: `${factor === undefined ? '' : `${factor} * `}${amount}${unit}`,
    value: (factor ?? 1) * amount * factors[unit],
  }));
const budgetTerm = fc
  .constantFrom(...budgets)
  .map(([name, { value, unit }]) => ({ text: `budget.${name}`, value, unit }));

it('the value of an expression is the sum of its terms', () => {
  const signs = fc.constantFrom('+' as const, '-' as const);
  fc.assert(
    fc.property(durationTerm, fc.array(fc.tuple(signs, durationTerm), { maxLength: 6 }), (first, rest) => {
      const text = rest.reduce((written, [sign, term]) => `${written} ${sign} ${term.text}`, first.text);
      const sum = rest.reduce((total, [sign, { value }]) => total + (sign === '+' ? value : -value), first.value);
      expect(evaluate(text, budgets)).toEqual({ value: sum, unit: 'ms' });
    }),
  );
});

it('a budget has the number and the unit of the table, with any duration beside it', () => {
  fc.assert(
    fc.property(budgetTerm, durationTerm, (budget, term) => {
      expect(evaluate(budget.text, budgets)).toEqual({ value: budget.value, unit: budget.unit });
      const both = () => evaluate(`${budget.text} + ${term.text}`, budgets);
      if (budget.unit === 'number') expect(both).toThrow(ExpressionError);
      else expect(both()).toEqual({ value: budget.value + term.value, unit: 'ms' });
    }),
  );
});

it('any other text is an ExpressionError and nothing else', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      try {
        expect(Number.isFinite(evaluate(text, budgets).value)).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(ExpressionError);
      }
    }),
  );
});

it.each([
  ['budget.orders-payments.attempt', edges['orders-payments'].attemptTimeoutMs],
  ['budget.orders-payments.attempts', edges['orders-payments'].attempts],
  ['2 * budget.orders-catalog.call + 100ms', 2 * edges['orders-catalog'].callTimeoutMs + 100],
  ['5 + 2', 7],
  ['5', 5],
])('%s is %d', (text, value) => {
  expect(evaluate(text, budgets).value).toBe(value);
});

it.each([
  ['1s+2s', 'blank on either side'],
  ['2s * 2', 'does not begin with a plain number'],
  ['2 * 2 * 2s', 'more than one factor'],
  ['', 'neither'],
  ['budget.nothing', 'unknown budget'],
])('%s is refused', (text, message) => {
  expect(() => evaluate(text, budgets)).toThrow(message);
});
