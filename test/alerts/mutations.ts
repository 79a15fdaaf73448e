import { partsOf } from '../../dashboards/promql.ts';
import type { RuleGroup } from '../../dashboards/rules.ts';

/** An expression with one mistake in it. */
interface Mutation {
  /** `20 -> 40 at 131` */
  readonly what: string;
  readonly expr: string;
}

interface MutationOptions {
  /** Numbers are changed too: in alerts, where they are thresholds, and not in recorded rates. */
  readonly numbers: boolean;
  /** Names of recorded windows in this alert: each is swapped with each other one. */
  readonly windows: readonly string[];
}

/** What each operator becomes: what is not so, or the other way to combine. */
const OTHERS: Readonly<Record<string, string>> = {
  And: 'or',
  Unless: 'and',
  Gtr: '<=',
  Gte: '<',
  Lss: '>=',
  Lte: '>',
  Eql: '!=',
  Neq: '==',
};

/**
 * Every threshold doubled and halved, or 1 where it is 0, each range doubled and halved, each recorded window swapped, each operator that compares
 * or combines as another one.
 */
export function mutationsOf(expr: string, { numbers, windows }: MutationOptions): readonly Mutation[] {
  return partsOf(expr).flatMap(({ kind, from, to, text, within }) => {
    const replaced = (replacement: string): Mutation => ({
      what: `${text} -> ${replacement} at ${from}`,
      expr: expr.slice(0, from) + replacement + expr.slice(to),
    });
    const other = OTHERS[kind];
    // The != of a label is none: it selects.
    if (other !== undefined && within === 'BinaryExpr') return [replaced(other)];
    // An argument of a function, as in vector(1), does not count: it limits nothing.
    if (kind === 'NumberDurationLiteral' && numbers && within !== 'FunctionCallBody') {
      if (Number(text) === 0) return [replaced('1')];
      return [2, 0.5].map((factor) => replaced(String(Number((Number(text) * factor).toPrecision(12)))));
    }
    if (kind === 'NumberDurationLiteralInDurationContext' && within === 'DurationExpr' && expr[from - 1] === '[') {
      return [2, 0.5].map((factor) => replaced(scaled(text, factor)));
    }
    if (kind === 'Identifier') {
      const [, window] = /:rate(\w+)$/.exec(text) ?? [];
      const others = windows.filter((other) => window !== undefined && other !== window);
      return others.map((other) => replaced(text.replace(/\w+$/, `rate${other}`)));
    }
    return [];
  });
}

const SMALLER: Readonly<Record<string, readonly [factor: number, unit: string]>> = {
  m: [60, 's'],
  h: [60, 'm'],
  d: [24, 'h'],
};

/** `10s` doubled is `20s`; half of `1m` is `30s`. */
function scaled(duration: string, factor: number): string {
  const [, number = '', unit = ''] = /^(\d+)([a-z]+)$/.exec(duration) ?? [];
  const value = Number(number) * factor;
  if (Number.isInteger(value)) return `${value}${unit}`;
  const [size, smaller] = SMALLER[unit] ?? [1, unit];
  return `${Math.max(1, Math.floor(value * size))}${smaller}`;
}

/** Groups of rules, of either kind. */
export type Groups = readonly RuleGroup<AnyRule>[];

interface AnyRule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
}

/** Groups with one mistake in them. */
export interface Mutant {
  readonly what: string;
  readonly groups: Groups;
}

/**
 * Numbers are thresholds in alerts and in what is recorded of the queue; in rates they are none. Rates of SLOs are changed
 * with `rates`: they are the same for each alert that reads them.
 */
export function mutantsOf(groups: Groups, { rates }: { readonly rates: boolean }): readonly Mutant[] {
  const windows = groups.flatMap(({ name }) => /^slo-rate-(\w+)$/.exec(name)?.[1] ?? []);
  return groups.flatMap((group) =>
    group.rules.flatMap((rule) => {
      if (!rates && rule.record?.startsWith('slo:')) return [];
      const numbers = rule.alert !== undefined || rule.record?.startsWith('shop:') === true;
      const mutations = mutationsOf(rule.expr, { numbers, windows: rule.alert === undefined ? [] : windows });
      return mutations.map(({ what, expr }) => {
        const rules = group.rules.map((one) => (one === rule ? { ...one, expr } : one));
        const changed = groups.map((one) => (one === group ? { ...one, rules } : one));
        return { what: `${rule.alert ?? rule.record}: ${what}`, groups: changed };
      });
    }),
  );
}
