import type { SchemaNode } from './expected.ts';
import { didYouMean, type Path } from './problem.ts';

type Keys = readonly string[];

/** One variant, several that its constants do not distinguish, or what is wrong with the keys that distinguish them. */
export type Choice = { readonly variants: readonly SchemaNode[] } | { readonly path: Path; readonly message: string };

/**
 * The variants of a union that an object can be: by the constants that they demand, the outermost first (`type`, then
 * `provider.type`).
 */
export function choose(variants: readonly SchemaNode[], value: object): Choice {
  let left = variants;
  for (const keys of discriminatorsOf(variants)) {
    const matching = left.filter((variant) => constantAt(variant, keys) === valueAt(value, keys));
    const demanding = left.filter((variant) => constantAt(variant, keys) !== undefined);
    if (demanding.length === 0 || (matching.length === 0 && demanding.length < left.length)) continue;
    if (matching.length === 0) return refusal(keys, { left, variants }, value);
    left = matching;
  }
  return { variants: left };
}

function refusal(
  keys: Keys,
  { left, variants }: { readonly left: readonly SchemaNode[]; readonly variants: readonly SchemaNode[] },
  value: object,
): Choice {
  const known = [...new Set(left.map((variant) => constantAt(variant, keys)).filter((one) => one !== undefined))].map(
    String,
  );
  const given = valueAt(value, keys);
  const key = keys.at(-1);
  // The object that should hold the key is missing or none: say that, not what its key should be.
  const holder = keys.length > 1 ? valueAt(value, keys.slice(0, -1)) : value;
  if (typeof holder !== 'object' || holder === null) {
    return { path: keys.slice(0, -1), message: `${keys.at(-2)} must be an object with ${key}: ${known.join(', ')}` };
  }
  if (given === undefined) return { path: keys.slice(0, -1), message: `${key} is missing: one of ${known.join(', ')}` };
  const elsewhere = variants.find((variant) => constantAt(variant, keys) === given);
  if (elsewhere && elsewhere.properties?.type?.const !== undefined) {
    return {
      path: keys,
      message: `${JSON.stringify(given)} goes with type: ${elsewhere.properties.type.const}, here it can be ${known.join(', ')}`,
    };
  }
  return {
    path: keys,
    message: `unknown ${key} ${JSON.stringify(given)}${didYouMean(given, known)}: one of ${known.join(', ')}`,
  };
}

const knownDiscriminators = new WeakMap<readonly SchemaNode[], readonly Keys[]>();

/** Paths at which variants demand constants, outermost first. */
function discriminatorsOf(variants: readonly SchemaNode[]): readonly Keys[] {
  const known = knownDiscriminators.get(variants) ?? findDiscriminators(variants);
  knownDiscriminators.set(variants, known);
  return known;
}

function findDiscriminators(variants: readonly SchemaNode[]): readonly Keys[] {
  const found = new Map<string, Keys>();
  for (const variant of variants) {
    for (const keys of constantsOf(variant)) found.set(keys.join('.'), keys);
  }
  return [...found.values()].sort((a, b) => a.length - b.length);
}

function constantsOf(schema: SchemaNode, depth = 2): Keys[] {
  const { properties, required } = commonOf(schema);
  return Object.entries(properties ?? {}).flatMap(([key, property]): Keys[] => {
    // An optional key distinguishes nothing.
    if (!required?.includes(key)) return [];
    if (property.const !== undefined) return [[key]];
    return depth > 1 ? constantsOf(property, depth - 1).map((below) => [key, ...below]) : [];
  });
}

/** Of a union the constants that all its variants share; anything else as it is. */
function commonOf(schema: SchemaNode): SchemaNode {
  const [first, ...others] = schema.anyOf ?? [schema];
  if (first === undefined || others.length === 0) return first ?? schema;
  const shared = Object.entries(first.properties ?? {}).filter(
    ([key, { const: constant }]) =>
      constant !== undefined && others.every((other) => other.properties?.[key]?.const === constant),
  );
  return { properties: Object.fromEntries(shared), required: shared.map(([key]) => key) };
}

function constantAt(schema: SchemaNode, [key = '', ...below]: Keys): unknown {
  const property = commonOf(schema).properties?.[key];
  if (property === undefined || below.length === 0) return property?.const;
  return constantAt(property, below);
}

function valueAt(value: object, keys: Keys): unknown {
  let found: unknown = value;
  for (const key of keys) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Record<string, unknown>)[key];
  }
  return found;
}
