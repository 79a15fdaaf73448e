import { type TProperties, type TSchema, Type } from 'typebox';
import type { Repeated, SchemaNode } from '../../yaml/expected.ts';
import { got, type Path, type Problem, writePath } from '../../yaml/problem.ts';
import { isObject, read } from '../../yaml/read.ts';
import { closed } from '../../yaml/schema.ts';
import { budgetsOf } from './budgets.ts';
import { readersWith } from './readers.ts';
import { Scalar } from './values.ts';

/** An item of a for-each: the value of `${each}` and `${each.key}` in one repetition. */
export interface EachItem {
  readonly value: unknown;
  /** From 1. */
  readonly number: number;
  readonly count: number;
  /** Where the item is in the file. */
  readonly path: Path;
}

/** Where an entry of an expanded list comes from. */
export interface Origin {
  /** In the file: `method[0].steps[2]`. */
  readonly path: Path;
  /** Undefined outside a for-each. */
  readonly item: EachItem | undefined;
}

export interface Expansion {
  readonly file: Record<string, unknown>;
  /** Of the for-each blocks themselves, with paths in the file. */
  readonly problems: readonly Problem[];
  /** Takes a path in the expanded file, also one into an entry; undefined for what no list holds. */
  originOf(path: Path): Origin | undefined;
}

/** A file that repeats more than this is a program, and its report is too long to read. */
const MAX_REPEATED = 500;

const lists: readonly { readonly path: Path; readonly repeats: Repeated }[] = [
  { path: ['steady-state-hypothesis', 'probes'], repeats: 'steps' },
  { path: ['method'], repeats: 'steps' },
  { path: ['recovery'], repeats: 'steps' },
  { path: ['reach'], repeats: 'events' },
  { path: ['never'], repeats: 'events' },
];

const Items = Type.Array(
  Type.Union(
    [
      Scalar,
      Type.Record(Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_-]*$' }), Type.Unknown(), {
        minProperties: 1,
        description: `values by their names: \${each.name}`,
      }),
    ],
    { description: `a scalar (\${each}), or an object (\${each.key})` },
  ),
  { minItems: 1, maxItems: 100, uniqueItems: true, description: 'one repetition for each item, in this order' },
);

/** A for-each block around entries of this schema. */
export function forEachBlock(entry: TSchema, repeats: Repeated): TSchema {
  const entries: TProperties = {
    [repeats]: Type.Array(entry, {
      minItems: 1,
      description: `repeated for each item; \${each} or \${each.key} is its value`,
    }),
  };
  return closed({ 'for-each': Items, ...entries }, { description: `${repeats} repeated over a list` });
}

/** Replaces every for-each block by its entries, once for each item. Their `${each}` is left to `substitute`. Pure. */
export function expandForEach(file: Record<string, unknown>): Expansion {
  const problems: Problem[] = [];
  const origins = new Map<string, Origin>();
  let repeated = 0;
  const entriesOf = (entry: unknown, path: Path, repeats: Repeated): readonly (Origin & { entry: unknown })[] => {
    if (!isObject(entry) || !('for-each' in entry)) return [{ entry, path, item: undefined }];
    const found = problemsOf(entry, path, repeats);
    problems.push(...found);
    if (found.length > 0) return [];
    const items = entry['for-each'] as readonly unknown[];
    const templates = entry[repeats] as readonly unknown[];
    repeated += items.length * templates.length;
    if (repeated > MAX_REPEATED) {
      const message = `for-each makes ${repeated} ${repeats} so far; a file repeats ${MAX_REPEATED} at most`;
      problems.push({ path: [...path, 'for-each'], message, isKey: true });
      return [];
    }
    return items.flatMap((value, index) => {
      const item = { value, number: index + 1, count: items.length, path: [...path, 'for-each', index] };
      return templates.map((template, at) => ({ entry: template, path: [...path, repeats, at], item }));
    });
  };
  const expanded = lists.reduce((value, { path, repeats }) => {
    const list = path.reduce<unknown>((one, key) => (isObject(one) ? one[key] : undefined), value);
    if (!Array.isArray(list)) return value;
    const entries = list.flatMap((entry, index) => entriesOf(entry, [...path, index], repeats));
    for (const [index, { path: from, item }] of entries.entries()) {
      origins.set(writePath([...path, index]), { path: from, item });
    }
    return replaced(
      value,
      path,
      entries.map(({ entry }) => entry),
    ) as Record<string, unknown>;
  }, file);
  return { file: expanded, problems, originOf: (path) => lookUp(origins, path) };
}

function replaced(value: unknown, [key, ...below]: Path, entries: readonly unknown[]): unknown {
  if (key === undefined) return entries;
  return { ...(value as object), [key]: replaced((value as Record<string, unknown>)[key], below, entries) };
}

function lookUp(origins: ReadonlyMap<string, Origin>, path: Path): Origin | undefined {
  for (const { path: list } of lists) {
    if (!list.every((key, index) => path[index] === key) || path.length <= list.length) continue;
    const origin = origins.get(writePath(path.slice(0, list.length + 1)));
    return origin && { ...origin, path: [...origin.path, ...path.slice(list.length + 1)] };
  }
  return undefined;
}

const blocks: Readonly<Record<Repeated, TSchema>> = {
  steps: forEachBlock(Type.Unknown(), 'steps'),
  events: forEachBlock(Type.Unknown(), 'events'),
};

/** What is wrong with a block, apart from the entries that it makes: these are checked as if they were written out. */
function problemsOf(block: Record<string, unknown>, path: Path, repeats: Repeated): readonly Problem[] {
  const problems: Problem[] = [];
  read(blocks[repeats] as SchemaNode, block, path, { problems, readers: readersWith(budgetsOf()) });
  if (problems.length > 0) return problems;
  const items = block['for-each'] as readonly unknown[];
  const templates = block[repeats] as readonly unknown[];
  return [
    ...unusedKeys(items, templates, [...path, 'for-each']),
    ...templates.flatMap((template, at) => problemsOfTemplate(template, items.length, [...path, repeats, at])),
  ];
}

function problemsOfTemplate(template: unknown, items: number, path: Path): readonly Problem[] {
  if (!isObject(template)) return [];
  if ('for-each' in template) {
    const message = 'a for-each cannot contain another; list the combinations as items';
    return [{ path: [...path, 'for-each'], message, isKey: true }];
  }
  const { name } = template;
  if (items === 1 || typeof name !== 'string' || /\$\{each[.}]/.test(name)) return [];
  const message = `every item would give a step named ${got(name)}; write \${each} or \${each.key} in the name`;
  return [{ path: [...path, 'name'], message }];
}

function unusedKeys(items: readonly unknown[], templates: readonly unknown[], path: Path): readonly Problem[] {
  const text = JSON.stringify(templates);
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const keys = isObject(item) ? Object.keys(item) : [];
    const unused = keys.filter((key) => !text.includes(`\${each.${key}}`) && !seen.has(key) && seen.add(key));
    return unused.map((key) => ({
      path: [...path, index, key],
      message: `"${key}" is used nowhere: write \${each.${key}} where it is meant`,
      isKey: true,
    }));
  });
}
