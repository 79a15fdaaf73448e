import { Value } from 'typebox/value';
import { choose } from './choose.ts';
import { expected, type Reading, readingOf, type SchemaNode } from './expected.ts';
import { didYouMean, got, type Path, type Problem } from './problem.ts';

/** What reading needs beside the schema, and where it puts what is wrong. */
export interface ReadContext {
  readonly problems: Problem[];
  /** Of what is read by more than its form; a format without such values has none. */
  readonly readers?: Readonly<Partial<Record<Reading, Reader>>>;
}

export type Reader = (value: unknown, path: Path, context: ReadContext) => unknown;

/**
 * The meaning of a file's values: defaults filled in, durations in ms, expressions as numbers. Every problem goes
 * to the context; the result means something only when there was none.
 */
export function read(schema: SchemaNode, value: unknown, path: Path, context: ReadContext): unknown {
  const reading = readingOf(schema);
  const reader = reading && context.readers?.[reading];
  if (reader) return reader(value, path, context);
  if (schema.anyOf) return readUnion(schema, value, path, context);
  if (schema.type === 'object') return readObject(schema, value, path, context);
  if (schema.type === 'array') return readList(schema, value, path, context);
  return readScalar(schema, value, path, context);
}

/** Puts what is wrong to the problems; undefined is what was read then. */
export function report({ problems }: ReadContext, path: Path, message: string): undefined {
  problems.push({ path, message });
}

function readScalar(schema: SchemaNode, value: unknown, path: Path, context: ReadContext): unknown {
  if (Value.Check(schema, value)) return value;
  const hint = didYouMean(value, (schema.enum ?? []).map(String));
  return report(context, path, `expected ${expected(schema)}, got ${got(value)}${hint}`);
}

function readList(schema: SchemaNode, value: unknown, path: Path, context: ReadContext): unknown {
  if (!Array.isArray(value)) return report(context, path, `expected ${expected(schema)}, got ${got(value)}`);
  const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (value.length < minItems || value.length > maxItems) {
    const wanted =
      minItems === maxItems ? minItems : value.length < minItems ? `${minItems} or more` : `${maxItems} or fewer`;
    report(context, path, `expected a list of ${wanted}, got ${value.length === 0 ? 'an empty one' : value.length}`);
  }
  if (schema.uniqueItems && new Set(value.map((item) => JSON.stringify(item))).size < value.length) {
    report(context, path, 'duplicate item');
  }
  return value.map((item, index) => {
    const itemSchema = Array.isArray(items) ? items[index] : items;
    return read((itemSchema ?? {}) as SchemaNode, item, [...path, index], context);
  });
}

function readObject(schema: SchemaNode, value: unknown, path: Path, context: ReadContext): unknown {
  if (!isObject(value)) return report(context, path, `expected ${expected(schema)}, got ${got(value)}`);
  if (Object.keys(value).length < (schema.minProperties ?? 0)) {
    const known = Object.keys(schema.properties ?? {});
    const list = known.length > 0 ? `: ${known.join(', ')}` : '';
    report(
      context,
      path,
      `states nothing${schema.minProperties === 1 ? '' : ' to compare'}, so it could never fail; give it a key${list}`,
    );
  }
  if (schema.patternProperties) return readRecord(schema, value, path, context);
  const properties = schema.properties ?? {};
  for (const key of Object.keys(value).filter((key) => !(key in properties))) {
    const known = Object.keys(properties);
    const hint = didYouMean(key, known) || `; there are ${known.join(', ')}`;
    context.problems.push({ path: [...path, key], message: `unknown key "${key}"${hint}`, isKey: true });
  }
  const entries = Object.entries(properties).flatMap(([key, property]): [string, unknown][] => {
    const given = key in value ? value[key] : structuredClone(property.default);
    if (given !== undefined) return [[key, read(property, given, [...path, key], context)]];
    if (schema.required?.includes(key)) report(context, path, `${key} is missing: ${expected(property)}`);
    return [];
  });
  return Object.fromEntries(entries);
}

function readRecord(schema: SchemaNode, value: Record<string, unknown>, path: Path, context: ReadContext): unknown {
  const [[pattern, property] = ['', {}]] = Object.entries(schema.patternProperties ?? {});
  const entries = Object.entries(value).map(([key, one]) => {
    if (!new RegExp(pattern).test(key)) {
      const message = `"${key}" is not allowed here${schema.description ? ` (${schema.description})` : ''}`;
      context.problems.push({ path: [...path, key], message, isKey: true });
    }
    return [key, read(property, one, [...path, key], context)];
  });
  return Object.fromEntries(entries);
}

/** Objects by their constants; anything else by its form. */
function readUnion(schema: SchemaNode, value: unknown, path: Path, context: ReadContext): unknown {
  const { objects, others } = variantsOf(schema);
  const variants = isObject(value) ? objects : others;
  if (variants.length === 0) return report(context, path, `expected ${expected(schema)}, got ${got(value)}`);
  if (!isObject(value))
    return readFirst(variants, value, path, context, `expected ${expected(schema)}, got ${got(value)}`);
  const choice = choose(variants, value);
  if ('message' in choice) {
    report(context, [...path, ...choice.path], choice.message);
    // Other steps may refer to it by the name it has all the same.
    return value;
  }
  return readFirst(choice.variants, value, path, context);
}

/** As the first variant that fits; when none does, `message`, or what is wrong with the one that fits best. */
function readFirst(
  variants: readonly SchemaNode[],
  value: unknown,
  path: Path,
  context: ReadContext,
  message?: string,
): unknown {
  const attempts = variants.map((variant) => {
    const problems: Problem[] = [];
    return { result: read(variant, value, path, { ...context, problems }), problems };
  });
  const best = attempts.toSorted((a, b) => a.problems.length - b.problems.length)[0];
  if (best === undefined) return undefined;
  if (best.problems.length === 0) return best.result;
  if (message !== undefined && variants.length > 1) return report(context, path, message);
  context.problems.push(...best.problems);
  return best.result;
}

interface Variants {
  readonly objects: readonly SchemaNode[];
  readonly others: readonly SchemaNode[];
}

/** Unions are met again at every step of every file. */
const knownVariants = new WeakMap<SchemaNode, Variants>();

function variantsOf(schema: SchemaNode): Variants {
  const known = knownVariants.get(schema);
  if (known) return known;
  const all = flatten(schema);
  const variants = {
    objects: all.filter(({ type }) => type === 'object'),
    others: all.filter(({ type }) => type !== 'object'),
  };
  knownVariants.set(schema, variants);
  return variants;
}

function flatten(schema: SchemaNode): readonly SchemaNode[] {
  // A schema with its own reading is one variant.
  return schema.anyOf && schema.reads === undefined ? schema.anyOf.flatMap(flatten) : [schema];
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
