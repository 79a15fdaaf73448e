import { parse } from 'yaml';
import { CliError } from '../../errors.ts';
import { didYouMean, got, type Path, type Problem } from '../../yaml/problem.ts';
import { isObject } from '../../yaml/read.ts';
import type { EachItem } from './for-each.ts';

export type Configuration = Readonly<Record<string, unknown>>;

/** Not replaced in these: the values themselves, and what is not read. */
const KEPT = ['configuration', 'extensions'];

/**
 * The file with every `${name}` replaced by the configuration's value: by the value itself where it is the whole value
 * (`${orders}` may be a number), by its text elsewhere. `${each}` and `${each.key}` are values of the item that `itemAt`
 * finds for a path; they may refer to the configuration. An unknown name and an unused value are problems.
 */
export function substitute(
  file: Record<string, unknown>,
  configuration: Configuration,
  problems: Problem[],
  itemAt: (path: Path) => EachItem | undefined,
): Record<string, unknown> {
  const used = new Set<string>();
  const visit = (value: unknown, path: Path, itemOf: typeof itemAt): unknown => {
    if (typeof value === 'string') return inText(value, path, itemOf);
    if (Array.isArray(value)) return value.map((one, index) => visit(one, [...path, index], itemOf));
    if (!isObject(value)) return value;
    const kept = path.length === 0 ? KEPT : [];
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, kept.includes(key) ? one : visit(one, [...path, key], itemOf)]),
    );
  };
  const inText = (text: string, path: Path, itemOf: typeof itemAt): unknown => {
    const whole = /^\$\{([^}]*)\}$/.exec(text);
    if (whole) return look(whole[1] ?? '', path, itemOf) ?? text;
    return text.replaceAll(/\$\{([^}]*)\}/g, (written, name: string) => {
      const value = look(name, path, itemOf);
      if (typeof value !== 'object' || value === null) return String(value);
      problems.push({ path, message: `${written} is ${got(value)}, which cannot be part of a text` });
      return written;
    });
  };
  const look = (name: string, path: Path, itemOf: typeof itemAt): unknown => {
    if (name === 'each' || name.startsWith('each.')) {
      const found = itemValue(name, itemOf(path));
      // An item may refer to the configuration, and to no item.
      if ('value' in found) return visit(found.value, path, () => undefined);
      problems.push({ path, message: found.message });
      return undefined;
    }
    used.add(name);
    if (Object.hasOwn(configuration, name)) return configuration[name];
    const names = Object.keys(configuration);
    const hint = didYouMean(name, names) || (names.length > 0 ? `; there are ${names.join(', ')}` : '');
    problems.push({ path, message: `configuration has no "${name}"${hint}` });
    return undefined;
  };
  const result = visit(file, [], itemAt) as Record<string, unknown>;
  for (const name of Object.keys(configuration).filter((name) => !used.has(name))) {
    const message =
      name === 'each'
        ? '"each" is the item of a for-each; take another name'
        : `"${name}" is used nowhere: write \${${name}} where it is meant`;
    problems.push({ path: ['configuration', name], message, isKey: true });
  }
  return result;
}

/** The value of `each` or `each.key`, or why there is none. */
function itemValue(
  name: string,
  item: EachItem | undefined,
): { readonly value: unknown } | { readonly message: string } {
  if (item === undefined) return { message: `\${${name}} has a value only in the steps or events of a for-each` };
  const { value } = item;
  const key = name.slice('each.'.length);
  if (!isObject(value)) {
    return name === 'each' ? { value } : { message: `the item is ${got(value)} and has no keys; write \${each}` };
  }
  if (Object.hasOwn(value, key)) return { value: value[key] };
  const keys = Object.keys(value);
  if (key === '') return { message: `the item is an object; write \${each.key} with one of ${keys.join(', ')}` };
  return { message: `the item has no "${key}"${didYouMean(key, keys) || `; it has ${keys.join(', ')}`}` };
}

/** `--set name=value`: values are written as in a file. Throws CliError (2). */
export function parseSetting(text: string): readonly [name: string, value: unknown] {
  const [, name, written] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name !== undefined && written !== undefined) {
    try {
      const value: unknown = parse(written);
      if (value === null || typeof value !== 'object') return [name, value];
    } catch {
      // Not YAML, and so not a value that a file could have; said below.
    }
  }
  throw new CliError({
    code: 'invalid_argument',
    what: `"${text}" is not a setting`,
    next: 'write --set name=value with a text, a number, true or false: --set latency=4s',
  });
}
