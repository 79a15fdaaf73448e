import { parser } from '@prometheus-io/lezer-promql';

/** A piece of an expression. */
export interface Part {
  /** `NumberDurationLiteral`, `And`, `Identifier`, ... as the grammar of Prometheus' editor names them. */
  readonly kind: string;
  readonly from: number;
  readonly to: number;
  readonly text: string;
  /** The kind of what it is directly in. */
  readonly within: string | undefined;
}

/** Every piece of an expression, the outer ones first. */
export function partsOf(expr: string): readonly Part[] {
  const parts: Part[] = [];
  parser.parse(expr).iterate({
    enter({ name, from, to, node }) {
      parts.push({ kind: name, from, to, text: expr.slice(from, to), within: node.parent?.name });
    },
  });
  return parts;
}

const ERROR = '⚠';

/** Where an expression is not PromQL; undefined where it is. */
export function syntaxErrorOf(expr: string): string | undefined {
  const error = partsOf(expr).find(({ kind }) => kind === ERROR);
  return error && `not PromQL at character ${error.from + 1}: ${expr.slice(error.from, error.from + 30) || 'its end'}`;
}

/** The names of the series that an expression reads. */
export function seriesIn(expr: string): readonly string[] {
  const names = partsOf(expr).filter(({ kind, within }) => kind === 'Identifier' && within === 'VectorSelector');
  return [...new Set(names.map(({ text }) => text))];
}
