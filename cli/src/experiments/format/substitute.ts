import { parse } from 'yaml';
import { CliError } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import { didYouMean, type Path, type Problem } from './problem.ts';
import { isObject } from './read.ts';

export type Configuration = Readonly<Record<string, unknown>>;

/** Not replaced in these: the values themselves, and what is not read. */
const KEPT = ['configuration', 'extensions'];

/**
 * The file with every `${name}` replaced by the configuration's value: by the value itself where nothing stands beside it
 * (`${orders}` may be a number), by its text elsewhere. A name that does not exist and a value nobody uses are problems.
 */
export function substitute(
  file: Record<string, unknown>,
  configuration: Configuration,
  problems: Problem[],
): Record<string, unknown> {
  const used = new Set<string>();
  const visit = (value: unknown, path: Path): unknown => {
    if (typeof value === 'string') return inText(value, path);
    if (Array.isArray(value)) return value.map((item, index) => visit(item, [...path, index]));
    if (!isObject(value)) return value;
    const kept = path.length === 0 ? KEPT : [];
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, kept.includes(key) ? one : visit(one, [...path, key])]),
    );
  };
  const inText = (text: string, path: Path): unknown => {
    const whole = /^\$\{([^}]*)\}$/.exec(text);
    if (whole) return look(whole[1] ?? '', path) ?? text;
    return text.replaceAll(/\$\{([^}]*)\}/g, (_, name: string) => String(look(name, path)));
  };
  const look = (name: string, path: Path): unknown => {
    used.add(name);
    if (Object.hasOwn(configuration, name)) return configuration[name];
    const names = Object.keys(configuration);
    const hint = didYouMean(name, names) || (names.length > 0 ? `; there are ${names.join(', ')}` : '');
    problems.push({ path, message: `configuration has no "${name}"${hint}` });
    return undefined;
  };
  const result = visit(file, []) as Record<string, unknown>;
  for (const name of Object.keys(configuration).filter((name) => !used.has(name))) {
    problems.push({
      path: ['configuration', name],
      message: `"${name}" is used nowhere: write \${${name}} where it is meant`,
      isKey: true,
    });
  }
  return result;
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
    what: `"${text}" is not a setting`,
    next: 'write --set name=value with a text, a number, true or false: --set latency=4s',
    exitCode: exitCodes.usage,
  });
}
