/** Something wrong in a file of flags. */
export interface FlagProblem {
  /** From the root of the file, `flags.<name>.state`. */
  readonly path: string;
  readonly message: string;
}

/** What a rule may refer to. Undefined variants: those of any flag. */
export interface RuleScope {
  readonly variants: readonly string[] | undefined;
  /** Names in `$evaluators`. */
  readonly evaluators: readonly string[];
}

/** Of JsonLogic, and flagd's own. Source: https://flagd.dev/schema/v0/targeting.json. */
const operators: ReadonlySet<string> = new Set([
  ...['var', 'missing', 'missing_some', 'if', '==', '===', '!=', '!==', '!', '!!', 'or', 'and'],
  ...['>', '>=', '<', '<=', '%', '/', '*', '+', '-', 'min', 'max', 'merge', 'in', 'cat', 'substr'],
  ...['map', 'filter', 'reduce', 'all', 'none', 'some', 'fractional', 'sem_ver', 'starts_with', 'ends_with', '$ref'],
]);

/** The sum of all weights of a `fractional`, by flagd's definition. */
const MAX_TOTAL_WEIGHT = 2_147_483_647;

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** All mistakes of a rule that are known before it is evaluated. */
export function ruleProblems(rule: unknown, path: string, scope: RuleScope): readonly FlagProblem[] {
  if (Array.isArray(rule)) return rule.flatMap((part, index) => ruleProblems(part, `${path}[${index}]`, scope));
  if (!isRecord(rule)) return [];
  const [[operator, operand] = ['', undefined], ...others] = Object.entries(rule);
  if (operator === '' || others.length > 0) {
    return [{ path, message: `expected one operator, got ${Object.keys(rule).join(', ') || 'none'}` }];
  }
  const at = `${path}.${operator}`;
  if (!operators.has(operator)) return [{ path: at, message: 'is not an operator of JsonLogic or flagd' }];
  if (operator === '$ref') return referenceProblems(operand, at, scope);
  if (operator === 'fractional') return fractionalProblems(operand, at, scope);
  return ruleProblems(operand, at, scope);
}

function referenceProblems(name: unknown, path: string, { evaluators }: RuleScope): readonly FlagProblem[] {
  if (typeof name === 'string' && evaluators.includes(name)) return [];
  return [{ path, message: `${JSON.stringify(name)} is not in $evaluators` }];
}

function fractionalProblems(operand: unknown, path: string, scope: RuleScope): readonly FlagProblem[] {
  if (!Array.isArray(operand)) return [{ path, message: 'expected a list of [variant, weight]' }];
  // What is hashed may come first; without it that is the flag's name and the targeting key.
  const hasKey = operand.length > 0 && !Array.isArray(operand[0]);
  const key = hasKey ? ruleProblems(operand[0], `${path}[0]`, scope) : [];
  const buckets = operand.slice(hasKey ? 1 : 0);
  if (buckets.length === 0) return [...key, { path, message: 'expected at least one [variant, weight]' }];
  const offset = hasKey ? 1 : 0;
  const found = buckets.flatMap((bucket, index) => bucketProblems(bucket, `${path}[${index + offset}]`, scope));
  const total = buckets.reduce<number>((sum, bucket) => sum + weightOf(bucket), 0);
  const isWithin = total > 0 && total <= MAX_TOTAL_WEIGHT;
  const sum = isWithin ? [] : [{ path, message: `expected weights with a sum of 1 to ${MAX_TOTAL_WEIGHT}` }];
  return [...key, ...found, ...(found.length === 0 ? sum : [])];
}

function bucketProblems(bucket: unknown, path: string, scope: RuleScope): readonly FlagProblem[] {
  if (!Array.isArray(bucket) || bucket.length === 0 || bucket.length > 2) {
    return [{ path, message: 'expected [variant, weight]' }];
  }
  const [variant, weight = 1] = bucket as [unknown, unknown?];
  const isUnknown = typeof variant === 'string' && scope.variants !== undefined && !scope.variants.includes(variant);
  const isWeight = isRecord(weight) || (Number.isInteger(weight) && (weight as number) >= 0);
  return [
    ...(isUnknown ? [{ path: `${path}[0]`, message: `"${variant}" is not in variants` }] : []),
    ...(isWeight ? [] : [{ path: `${path}[1]`, message: 'expected a weight, an integer of 0 or more' }]),
    ...ruleProblems([variant, weight].filter(isRecord), path, scope),
  ];
}

/** A weight that a rule calculates counts as 1 here. */
function weightOf(bucket: unknown): number {
  const weight: unknown = Array.isArray(bucket) && bucket.length > 1 ? bucket[1] : 1;
  return typeof weight === 'number' ? weight : 1;
}
