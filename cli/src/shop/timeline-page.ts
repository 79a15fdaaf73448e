import { cutText, padText } from '../output/width.ts';
import type { View } from './steps-table.ts';
import type { TimelineEntry } from './timeline.ts';

/** Cells of the axis; below this width there is no room for it. */
const AXIS_CELLS = 22;
const AXIS_MIN_COLUMNS = 70;

/** One line an entry: offset from the first one in ms, source, name, and where it lies on the common axis. */
export function formatTimeline(entries: readonly TimelineEntry[], { style, columns }: View): string {
  const startMs = Math.min(...entries.map((entry) => entry.startMs));
  const endMs = Math.max(...entries.map((entry) => entry.startMs + entry.durationMs));
  const sourceWidth = Math.max(...entries.map(({ source }) => source.length));
  const offsetWidth = formatMs(endMs - startMs).length;
  const axisWidth = columns >= AXIS_MIN_COLUMNS ? AXIS_CELLS + 2 : 0;
  const nameWidth = Math.max(16, columns - offsetWidth - sourceWidth - axisWidth - 6);
  const lines = entries.map((entry) => {
    const offset = style.dim(formatMs(entry.startMs - startMs).padStart(offsetWidth));
    const mark = entry.kind === 'moment' ? '◆' : ' ';
    const name = padText(cutText(entry.name, nameWidth), nameWidth);
    const painted = entry.error ? style.red(name) : entry.kind === 'moment' ? style.bold(name) : name;
    const axis = axisWidth === 0 ? '' : `  ${axisOf(entry, startMs, endMs)}`;
    return `${offset} ${entry.source.padEnd(sourceWidth)} ${mark} ${painted}${axis}`.trimEnd();
  });
  return [...lines, style.dim(`◆ recorded in a database; times in ms from the first entry`)].join('\n');
}

function axisOf(entry: TimelineEntry, startMs: number, endMs: number): string {
  const cellMs = (endMs - startMs) / AXIS_CELLS || 1;
  const from = Math.min(AXIS_CELLS - 1, Math.floor((entry.startMs - startMs) / cellMs));
  if (entry.kind === 'moment') return `${'·'.repeat(from)}◆${'·'.repeat(AXIS_CELLS - from - 1)}`;
  const length = Math.min(AXIS_CELLS - from, Math.max(1, Math.round(entry.durationMs / cellMs)));
  return `${'·'.repeat(from)}${'█'.repeat(length)}${'·'.repeat(AXIS_CELLS - from - length)}`;
}

function formatMs(ms: number): string {
  return ms.toLocaleString('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}
