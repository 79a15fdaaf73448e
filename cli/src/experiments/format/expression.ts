import { durationMs } from '../../shared/duration.ts';
import { suggestName } from '../../shared/suggest-name.ts';
import type { Budgets } from './budgets.ts';
import type { Quantity } from './quantity.ts';

/** A mistake in an expression; its message is for the author of a file. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
}

/**
 * Terms joined by ` + ` or ` - `, each `[<n> * ]<duration | number | budget.<name>>`: `2 * budget.order + 300ms`.
 * The blanks around + and - are needed, because names contain dashes. Durations and plain numbers are never added up.
 * Throws ExpressionError.
 */
export function evaluate(text: string, budgets: Budgets): Quantity {
  const [first = '', ...rest] = text.trim().split(/\s+([+-])\s+/);
  let sum = termOf(first, budgets);
  for (let index = 0; index < rest.length; index += 2) {
    const term = termOf(rest[index + 1] ?? '', budgets);
    if (term.unit !== sum.unit) {
      throw new ExpressionError(`"${text}" adds a duration and a plain number; give the number a unit, like 200ms`);
    }
    sum = { value: rest[index] === '+' ? sum.value + term.value : sum.value - term.value, unit: sum.unit };
  }
  return sum;
}

function termOf(text: string, budgets: Budgets): Quantity {
  const [first = '', ...rest] = text.split(/\s*\*\s*/);
  if (rest.length === 0) return operandOf(first, budgets);
  if (rest.length > 1) throw new ExpressionError(`"${text}" has more than one factor`);
  const factor = operandOf(first, budgets);
  if (factor.unit !== 'number') throw new ExpressionError(`"${text}" does not begin with a plain number`);
  const { value, unit } = operandOf(rest[0] ?? '', budgets);
  return { value: factor.value * value, unit };
}

function operandOf(text: string, budgets: Budgets): Quantity {
  const ms = durationMs(text);
  if (ms !== undefined) return { value: ms, unit: 'ms' };
  if (/^\d+(\.\d+)?$/.test(text)) return { value: Number(text), unit: 'number' };
  if (text.startsWith('budget.')) return budgetOf(text.slice('budget.'.length), budgets);
  const hint = /[\w)][+]|[+][\w(]/.test(text) ? '; put a blank on either side of + and -' : '';
  throw new ExpressionError(
    `"${text}" is neither a duration (200ms, 3s, 1m) nor a number nor a budget (budget.order)${hint}`,
  );
}

function budgetOf(name: string, budgets: Budgets): Quantity {
  const found = budgets.get(name);
  if (found) return found;
  const suggestion = suggestName(name, [...budgets.keys()]);
  const hint = suggestion ? `, did you mean "budget.${suggestion}"?` : '; docs/experiments.md lists all';
  throw new ExpressionError(`unknown budget "budget.${name}"${hint}`);
}
