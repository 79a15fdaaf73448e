import { Text } from 'ink';
import { createElement as h, memo } from 'react';
import type { Lease } from '../../chaos/lease.ts';
import type { Style } from '../../output/style.ts';
import { formatCount } from '../../output/units.ts';
import {
  type Chart,
  type ChartColumn,
  chartOf,
  type Drain,
  drainOf,
  type HistorySample,
  MIN_SHOWN_PENDING,
} from '../model/history.ts';
import { countdownText, fit, fitLines, rateText, scaleText, spanText } from './text.ts';

export interface ChartProps {
  readonly history: readonly HistorySample[];
  readonly faults: readonly Lease[];
  readonly nowMs: number;
  readonly width: number;
  readonly height: number;
  readonly style: Style;
}

/** Title, axis, band and the line that names it. */
const OTHER_LINES = 4;
/** Room for the ends of the scale. */
const GUTTER = 6;
const EIGHTHS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** The outbox over time, under it the band of faults, and how long it takes to drain. */
export const ChartPanel = memo(({ history, faults, nowMs, width, height, style }: ChartProps) => {
  const chart = chartOf(history, width - GUTTER, nowMs);
  const rows = height - OTHER_LINES;
  const lines = [
    title(drainOf(history), style, width),
    ...Array.from({ length: rows }, (_, index) => chartRow(chart, rows, index, style)),
    axis(chart, width, style),
    `${' '.repeat(GUTTER)}${style.magenta(chart.columns.map(bandCell).join(''))}`,
    legend(chart, faults, nowMs, width, style),
  ];
  return h(Text, null, fitLines(lines, height));
});

function title(drain: Drain, style: Style, width: number): string {
  const head = ' OUTBOX ';
  const { text, colour } = drainWords(drain);
  return `${style.bold(head)}${style[colour](fit(text, width - head.length))}`;
}

/** How the outbox stands, in the width there is at least. */
function drainWords(drain: Drain): { text: string; colour: keyof Style } {
  switch (drain.kind) {
    case 'unknown':
      return { text: 'not reported', colour: 'yellow' };
    case 'empty': {
      const { last } = drain;
      if (last === undefined) return { text: 'empty', colour: 'green' };
      return { text: `drained ${formatCount(last.peak)} in ${spanText(last.tookMs)}`, colour: 'green' };
    }
    case 'draining':
      return {
        text: `${formatCount(drain.pending)}, empty in ${spanText(Math.max(1_000, drain.leftMs))}`,
        colour: 'cyan',
      };
    case 'rising':
      return { text: `${formatCount(drain.pending)}, rising ${rateText(drain.perSecond)}/s`, colour: 'yellow' };
    case 'waiting':
      if (drain.pending < MIN_SHOWN_PENDING) return { text: formatCount(drain.pending), colour: 'cyan' };
      return { text: `${formatCount(drain.pending)}, not draining`, colour: 'yellow' };
  }
}

function chartRow({ columns, top }: Chart, rows: number, index: number, style: Style): string {
  const fromBottom = rows - 1 - index;
  const label = index === 0 ? scaleText(top) : '';
  const cells = columns.map(({ pending }) => {
    if (pending === undefined) return ' ';
    const eighths = Math.round((pending / top) * rows * 8) - fromBottom * 8;
    // What is there is seen, however little it is.
    const shown = fromBottom === 0 && pending > 0 ? Math.max(1, eighths) : eighths;
    return EIGHTHS[Math.max(0, Math.min(8, shown))];
  });
  return `${style.dim(`${label.padStart(GUTTER - 1)}│`)}${style.cyan(cells.join(''))}`;
}

function axis({ columns, columnMs }: Chart, width: number, style: Style): string {
  const from = ` ${spanText(columns.length * columnMs)} ago `;
  const to = ' now';
  const line = '─'.repeat(Math.max(0, columns.length - from.length - to.length - 1));
  return style.dim(fit(`${'0'.padStart(GUTTER - 1)}└─${from}${line}${to}`, width));
}

/** One fault, or several at a time. */
function bandCell({ faults }: ChartColumn): string {
  return faults.length === 0 ? ' ' : faults.length === 1 ? '▒' : '▓';
}

/** The newest active fault with what is left of its lease, or the last one that was. */
function legend({ columns }: Chart, faults: readonly Lease[], nowMs: number, width: number, style: Style): string {
  const [first, ...others] = [...faults].reverse();
  if (first !== undefined) {
    const end = ` ${leaseEnd(first, nowMs)}${others.length === 0 ? '' : ` +${others.length}`}`;
    const name = ` ▒ ${first.target} ${first.fault}`;
    return style.magenta(fit(`${name.slice(0, width - end.length)}${end}`, width));
  }
  const last = columns.findLast((column) => column.faults.length > 0)?.faults.at(-1);
  return last === undefined ? '' : style.dim(fit(` ▒ ${last.label} ended`, width));
}

/** Time that is left of a lease, for people. */
export function leaseEnd({ status, expiresAt }: Lease, nowMs: number): string {
  if (status === 'undo_failed') return 'undo failed';
  if (status === 'injecting' || status === 'ending') return status;
  return `${countdownText(Date.parse(expiresAt) - nowMs)} left`;
}
