import type { Path, Problem } from '../../yaml/problem.ts';
import { isObject } from '../../yaml/read.ts';

/** Tolerances within a step, at any depth: what could never fail, and what could never hold. */
export function checkTolerances(value: unknown, path: Path): Problem[] {
  if (!isObject(value)) return [];
  return [
    ...checkLimits(value, path),
    ...checkPattern(value.matches, [...path, 'matches']),
    ...Object.entries(value).flatMap(([key, one]) =>
      Array.isArray(one)
        ? one.flatMap((item, index) => checkTolerances(item, [...path, key, index]))
        : checkTolerances(one, [...path, key]),
    ),
  ];
}

/** Says what is wrong with a regular expression. */
export function checkPattern(pattern: unknown, path: Path): Problem[] {
  if (typeof pattern !== 'string') return [];
  try {
    new RegExp(pattern);
    return [];
  } catch (error) {
    return [{ path, message: (error as SyntaxError).message }];
  }
}

function checkLimits(value: Record<string, unknown>, path: Path): Problem[] {
  const [low, high] = Array.isArray(value.range) ? value.range : [undefined, undefined];
  const lower = highest(value.gt, value.gte, low);
  const upper = lowest(value.lt, value.lte, high);
  if (lower === undefined && upper === undefined) return [];
  const isEmpty =
    lower !== undefined && upper !== undefined && (lower > upper || (lower === upper && isStrict(value, lower)));
  if (isEmpty) return [{ path, message: `nothing is both above ${lower} and below ${upper}, so it could never hold` }];
  // Counts and times are never negative.
  const isAlways = (value.gte !== undefined && Number(value.gte) <= 0) || Number(value.gt) < 0;
  if (Object.keys(value).length === 1 && isAlways) {
    return [{ path, message: 'nothing counted or timed is below 0, so it could never fail' }];
  }
  return [];
}

function isStrict({ gt, lt }: Record<string, unknown>, limit: number): boolean {
  return gt === limit || lt === limit;
}

function highest(...limits: unknown[]): number | undefined {
  const numbers = limits.filter((limit) => typeof limit === 'number');
  return numbers.length > 0 ? Math.max(...numbers) : undefined;
}

function lowest(...limits: unknown[]): number | undefined {
  const numbers = limits.filter((limit) => typeof limit === 'number');
  return numbers.length > 0 ? Math.min(...numbers) : undefined;
}
