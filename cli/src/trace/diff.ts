import type { Style } from '../output/style.ts';
import type { Comparison, Fault } from './compare.ts';
import { type ExpectedSpan, flatten } from './contract.ts';
import type { TraceNode } from './tree.ts';

type Mark = 'same' | 'missing' | 'extra' | 'different' | 'lost';

/** One line of a tree diff; a subtree without a fault is one line that counts it. */
export interface DiffLine {
  readonly mark: Mark;
  readonly depth: number;
  readonly service: string;
  readonly name: string;
  /** What is wrong with this span, beyond its mark. */
  readonly notes: readonly string[];
  /** Spans below that are as expected and not listed. */
  readonly folded: number;
}

/** The contract's tree with what a trace lacks (-), has too many (+) and has otherwise (~). */
export function diffLines(expected: ExpectedSpan, comparison: Comparison): DiffLine[] {
  const { matches, extras, lost } = comparison;
  const faultsBySpan = Map.groupBy(comparison.faults, ({ expected: span }) => span);
  const matched = new Map([...matches].map(([span, node]) => [node, span]));
  const extrasByParent = Map.groupBy(extras, ({ parent }) => parent);

  function ofExpected(span: ExpectedSpan, depth: number): DiffLine[] {
    const faults = faultsBySpan.get(span) ?? [];
    const below = belowOf(span, depth + 1);
    const folds = faults.length === 0 && below.every(({ mark }) => mark === 'same') && !lost.has(span);
    const { service, name } = span;
    const line = { mark: markOf(span, faults), depth, service, name, notes: notesOf(faults) };
    if (folds) return [{ ...line, folded: flatten(span).length - 1 }];
    return [{ ...line, folded: 0 }, ...below];
  }

  function markOf(span: ExpectedSpan, faults: readonly Fault[]): Mark {
    if (lost.has(span)) return 'lost';
    if (faults.some(({ kind }) => kind === 'missing')) return 'missing';
    return faults.length > 0 ? 'different' : 'same';
  }

  function belowOf(span: ExpectedSpan, depth: number): DiffLine[] {
    const node = matches.get(span);
    const tooMany = node === undefined ? [] : (extrasByParent.get(node) ?? []);
    return [
      ...span.children.flatMap((child) => ofExpected(child, depth)),
      ...tooMany.flatMap((extra) => ofExtra(extra, depth)),
    ];
  }

  function ofExtra(node: TraceNode, depth: number): DiffLine[] {
    const { service, name } = node.span;
    const below = node.children.filter((child) => !matched.has(child)).flatMap((child) => ofExtra(child, depth + 1));
    const notes = node.orphan ? ['its parent span is not in the trace'] : [];
    return [{ mark: 'extra', depth, service, name, notes, folded: 0 }, ...below];
  }

  // An extra span under an extra one is listed with it.
  const adrift = extras.filter(({ parent }) => parent === undefined);
  return [...ofExpected(expected, 0), ...adrift.flatMap((node) => ofExtra(node, 0))];
}

/**
 * Missing and extra say it all by their mark; the rest is printed without the span's own name, which stands before it.
 */
function notesOf(faults: readonly Fault[]): string[] {
  return faults
    .filter(({ kind }) => kind !== 'missing' && kind !== 'extra')
    .map(({ message, actual }) => message.slice(`${actual?.span.service} "${actual?.span.name}" `.length));
}

const SIGNS: Readonly<Record<Mark, string>> = { same: ' ', missing: '-', extra: '+', different: '~', lost: ' ' };

/** The diff as text, one span a line. */
export function renderDiff(lines: readonly DiffLine[], style: Style): string {
  const paint: Readonly<Record<Mark, (text: string) => string>> = {
    same: style.dim,
    missing: style.red,
    extra: style.green,
    different: style.yellow,
    lost: style.dim,
  };
  return lines.map((line) => paint[line.mark](renderLine(line))).join('\n');
}

function renderLine({ mark, depth, service, name, notes, folded }: DiffLine): string {
  const tail = [
    ...notes,
    ...(mark === 'lost' ? ['lost with its process, as the contract allows'] : []),
    ...(folded > 0 ? [`${folded} below as expected`] : []),
  ];
  return `${SIGNS[mark]} ${'  '.repeat(depth)}${service} ${name}${tail.length > 0 ? `  (${tail.join('; ')})` : ''}`;
}
