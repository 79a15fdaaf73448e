import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLParseError,
  type YAMLWarning,
} from 'yaml';
import type { Path } from './problem.ts';

/** A place in a file, both from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A parsed YAML file with the place of every value. */
export interface YamlFile {
  /** Plain values; undefined when the text is not YAML. */
  readonly value: unknown;
  /** What makes it invalid or ambiguous: broken syntax, a key twice, an unknown tag. */
  readonly errors: readonly { readonly place: Place; readonly message: string }[];
  /** The place of the value at the path (of its key with `ofKey`); of a missing value, the place of its parent. */
  placeOf(path: Path, options?: { readonly ofKey?: boolean }): Place;
}

export function parseYaml(text: string): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const errors = causesOf([...document.errors, ...document.warnings]).map(({ code, pos, message }) => {
    const at = place(pos[0]);
    const hint =
      code !== 'DUPLICATE_KEY' && /\$\{/.test(lineOf(text, at))
        ? ' (within { } and [ ] a reference to the configuration needs quotes)'
        : '';
    return { place: at, message: `${message.replaceAll('\n', ' ')}${hint}` };
  });
  return {
    value: errors.length > 0 ? undefined : document.toJS(),
    errors,
    placeOf: (path, { ofKey = false } = {}) => place(offsetOf(document, path, ofKey)),
  };
}

/** Duplicate keys, and the first syntax error: later ones follow from it. */
function causesOf(errors: readonly (YAMLParseError | YAMLWarning)[]): readonly (YAMLParseError | YAMLWarning)[] {
  const twice = errors.filter(({ code }) => code === 'DUPLICATE_KEY');
  const syntax = errors.filter(({ code }) => code !== 'DUPLICATE_KEY').slice(0, 1);
  return [...twice, ...syntax].sort((a, b) => a.pos[0] - b.pos[0]);
}

function lineOf(text: string, { line }: Place): string {
  return text.split('\n')[line - 1] ?? '';
}

function offsetOf(document: Document.Parsed, path: Path, ofKey: boolean): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0] ?? 0;
  for (const [index, part] of path.entries()) {
    const step = stepInto(isAlias(node) ? node.resolve(document) : node, part);
    if (step === undefined) return offset;
    const isLast = index === path.length - 1;
    offset = (isLast && ofKey ? step.keyOffset : undefined) ?? step.offset ?? offset;
    node = step.node;
  }
  return offset;
}

interface Step {
  readonly node: unknown;
  readonly offset: number | undefined;
  readonly keyOffset?: number | undefined;
}

function stepInto(node: unknown, part: string | number): Step | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(part)] as Node | undefined;
    return item && { node: item, offset: item.range?.[0] };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(part));
  if (pair === undefined) return undefined;
  const keyOffset = (pair.key as Node).range?.[0];
  const value = pair.value as Node | null;
  // A key without a value has a value of no length behind it; the key is easier to find.
  const isEmpty = isScalar(value) && value.value === null;
  return { node: value, offset: isEmpty ? keyOffset : (value?.range?.[0] ?? keyOffset), keyOffset };
}
