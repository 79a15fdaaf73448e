import type { FlagDefinition } from './flag-file.ts';

/** The share of the keys, from 0 to 1, for which a flag is on; undefined where it is not one rule by written weights. */
export function shareOn({ state, variants, targeting = {} }: FlagDefinition): number | undefined {
  if (state === 'DISABLED') return undefined;
  const buckets = bucketsOf(targeting);
  const total = buckets.reduce((sum, [, weight]) => sum + weight, 0);
  if (total === 0) return undefined;
  return buckets.filter(([variant]) => variants[variant] === true).reduce((sum, [, weight]) => sum + weight, 0) / total;
}

/** Of a rule that is one `fractional` by the targeting key with written weights; empty for every other one. */
function bucketsOf({
  fractional,
  ...others
}: Readonly<Record<string, unknown>>): readonly (readonly [string, number])[] {
  if (!Array.isArray(fractional) || Object.keys(others).length > 0) return [];
  const buckets = fractional.map((bucket: unknown) => (Array.isArray(bucket) ? [bucket[0], bucket[1] ?? 1] : []));
  const isPlain = buckets.every(([variant, weight]) => typeof variant === 'string' && typeof weight === 'number');
  return isPlain ? (buckets as [string, number][]) : [];
}
