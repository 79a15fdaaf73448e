import { suggestName } from '../shared/suggest-name.ts';

/** Where something is in a file: keys and indexes from its root. */
export type Path = readonly (string | number)[];

/** Something wrong in a file. */
export interface Problem {
  readonly path: Path;
  /** What was expected, and what is there. */
  readonly message: string;
  /** The key is wrong, not the value behind it. */
  readonly isKey?: boolean;
}

/** A problem of a file, ready to be shown: `12:5 method[2].provider.target: unknown ...`. */
export interface FileProblem {
  readonly line: number;
  readonly column: number;
  readonly path: string;
  readonly message: string;
}

/** `method[2].provider.target` */
export function writePath(path: Path): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index > 0 ? '.' : ''}${part}`))
    .join('');
}

/** `, did you mean "orders"?`, or nothing. */
export function didYouMean(typed: unknown, known: readonly string[]): string {
  const suggestion = typeof typed === 'string' ? suggestName(typed, known) : undefined;
  return suggestion === undefined || suggestion === typed ? '' : `, did you mean "${suggestion}"?`;
}

/** A value of a file, in few words. */
export function got(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}..."` : text;
}
