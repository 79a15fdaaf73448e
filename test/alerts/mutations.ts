import { partsOf } from '../../dashboards/promql.ts';

/** An expression with one mistake in it. */
export interface Mutation {
  /** `20 -> 40 at 131` */
  readonly what: string;
  readonly expr: string;
}

export interface MutationOptions {
  /** Numbers are changed too: in alerts, where they are thresholds, and not in recorded rates. */
  readonly numbers: boolean;
  /** Names of recorded windows in this alert: each is swapped with each other one. */
  readonly windows: readonly string[];
}

/**
 * Every threshold doubled and halved, each range doubled and halved, each recorded window swapped, each `and` as `or`.
 * A 0 stays as it is: twice nothing is the same.
 */
export function mutationsOf(expr: string, { numbers, windows }: MutationOptions): readonly Mutation[] {
  return partsOf(expr).flatMap(({ kind, from, to, text, within }) => {
    const replaced = (replacement: string): Mutation => ({
      what: `${text} -> ${replacement} at ${from}`,
      expr: expr.slice(0, from) + replacement + expr.slice(to),
    });
    if (kind === 'And') return [replaced('or')];
    if (kind === 'NumberDurationLiteral' && numbers && Number(text) !== 0) {
      return [2, 0.5].map((factor) => replaced(String(Number((Number(text) * factor).toPrecision(12)))));
    }
    if (kind === 'NumberDurationLiteralInDurationContext' && within === 'DurationExpr') {
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

/** `10s` doubled is `20s`; halves are written in ms, which every window of ours has. */
function scaled(duration: string, factor: number): string {
  const [, number = '', unit = ''] = /^(\d+)([a-z]+)$/.exec(duration) ?? [];
  const value = Number(number) * factor;
  return Number.isInteger(value) ? `${value}${unit}` : `${Math.floor(value)}${unit}`;
}
