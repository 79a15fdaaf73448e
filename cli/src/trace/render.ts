import type { Style } from '../output/style.ts';
import { formatDuration } from '../shared/duration.ts';
import { durationMs, nodesOf, type TraceNode, type TraceTree } from './tree.ts';

type Paint = (text: string) => string;

/** Cells of the bar that shows when a span ran. */
const BAR_CELLS = 16;
/** Below this a line has no room for the bar. */
const BAR_MIN_COLUMNS = 72;

/**
 * The trace as a tree: service, span, duration and, where there is room, when it ran within the trace. Spans whose
 * parent is not in the trace come last and say so.
 */
export function renderTrace(tree: TraceTree, { style, columns }: { style: Style; columns: number }): string {
  const nodes = nodesOf(tree);
  if (nodes.length === 0) return 'no spans';
  const colours = serviceColours(nodes, style);
  const span = extentOf(nodes);
  const rows = [...tree.roots, ...tree.orphans].flatMap((node) => rowsOf(node, '', ''));
  const serviceWidth = Math.max(...nodes.map((node) => node.span.service.length));
  const barWidth = columns >= BAR_MIN_COLUMNS ? BAR_CELLS + 1 : 0;
  const labelWidth = Math.max(16, columns - serviceWidth - barWidth - 10);

  const lines = rows.map(({ label, node }) => {
    const colour = colours.get(node.span.service) ?? style.dim;
    const text = cut(node.span.error ? `${label} ✗` : label, labelWidth).padEnd(labelWidth);
    const duration = shortDuration(durationMs(node.span)).padStart(7);
    const bar = barWidth === 0 ? '' : ` ${colour(barOf(node, span))}`;
    return `${colour(node.span.service.padEnd(serviceWidth))} ${node.span.error ? style.red(text) : text} ${style.dim(duration)}${bar}`;
  });
  const services = new Set(nodes.map((node) => node.span.service)).size;
  const sql = nodes.filter((node) => node.span.database !== undefined);
  const databases = new Set(sql.map((node) => node.span.database)).size;
  const total = `${nodes.length} spans in ${services} services, ${sql.length} SQL over ${databases} databases, ${formatDuration(Number(span.end - span.start) / 1e6)}`;
  return [...lines, style.bold(total)].map((line) => line.trimEnd()).join('\n');
}

function serviceColours(nodes: readonly TraceNode[], style: Style): Map<string, Paint> {
  const palette: Paint[] = [style.cyan, style.green, style.magenta, style.yellow, style.blue, style.gray];
  const services = [...new Set(nodes.map((node) => node.span.service))];
  return new Map(services.map((service, index) => [service, palette[index % palette.length] as Paint]));
}

interface Row {
  readonly label: string;
  readonly node: TraceNode;
}

function rowsOf(node: TraceNode, lead: string, indent: string): Row[] {
  const label = `${lead}${node.span.name}${node.orphan ? ' (parent not in the trace)' : ''}`;
  const last = node.children.length - 1;
  const below = node.children.flatMap((child, index) =>
    rowsOf(child, `${indent}${index === last ? '└ ' : '├ '}`, `${indent}${index === last ? '  ' : '│ '}`),
  );
  return [{ label, node }, ...below];
}

interface Extent {
  readonly start: bigint;
  readonly end: bigint;
}

function extentOf(nodes: readonly TraceNode[]): Extent {
  const instants = nodes.flatMap(({ span }) => [span.startNanos, span.endNanos]).sort((a, b) => (a < b ? -1 : 1));
  return { start: instants[0] ?? 0n, end: instants.at(-1) ?? 0n };
}

function barOf({ span }: TraceNode, { start, end }: Extent): string {
  const total = Number(end - start) || 1;
  const cell = (nanos: bigint) => (Number(nanos - start) / total) * BAR_CELLS;
  const from = Math.min(BAR_CELLS - 1, Math.floor(cell(span.startNanos)));
  const length = Math.min(BAR_CELLS - from, Math.max(1, Math.round(cell(span.endNanos) - from)));
  return `${'·'.repeat(from)}${'█'.repeat(length)}${'·'.repeat(BAR_CELLS - from - length)}`;
}

/** "0.4 ms" where a rounded 0 would say nothing. */
function shortDuration(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : formatDuration(ms);
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
