import type { Style } from '../output/style.ts';
import type { InstrumentRow, RedRow, Report } from './report.ts';
import { ORDERS_METER } from './report.ts';

/** Width of the first column; with the numbers behind it a line has at most 80 characters. */
const LABEL = 43;

/** A report as text of 80 columns. */
export function renderReport(report: Report, style: Style): string {
  const span = report.intervalMs === undefined ? 'since start' : `last ${(report.intervalMs / 1000).toFixed(1)} s`;
  const instruments = report.instruments.map((row) => renderInstrument(row, style));
  const red = report.red.map((row) => renderRed(row, style));
  return [
    style.dim(`${report.time}  ${span}`),
    style.bold(line(ORDERS_METER, ['total', report.intervalMs === undefined ? '' : 'per s', 'p50', 'p95'])),
    ...(instruments.length > 0 ? instruments : [style.dim('no order has been placed yet')]),
    style.bold(
      line('Requests and deliveries', [report.intervalMs === undefined ? 'total' : 'per s', 'errors', 'p50', 'p95']),
    ),
    ...(red.length > 0 ? red : [style.dim('nothing has been served yet')]),
    ...renderWaiting(report),
  ].join('\n');
}

/** Only where something waits: nothing to see is the usual case. */
function renderWaiting({ waiting }: Report): string[] {
  const parts = Object.entries(waiting).filter(([, requests]) => requests > 0);
  return parts.length === 0
    ? []
    : [`wait for a response: ${parts.map(([name, many]) => `${name} ${many}`).join(', ')}`];
}

function renderInstrument(row: InstrumentRow, style: Style): string {
  const tags = Object.entries(row.attributes).map(([key, value]) => `${key}=${value}`);
  const label = [row.name, ...tags, ...(row.stale ? ['(stale)'] : [])].join(' ');
  const quantiles = row.type === 'histogram' ? [withUnit(row.p50, row.unit), withUnit(row.p95, row.unit)] : [];
  const text = line(label, [count(row.value), ratio(row.perSecond), ...quantiles]);
  return row.stale ? style.dim(text) : text;
}

function renderRed(row: RedRow, style: Style): string {
  const rates = row.perSecond === undefined;
  const text = line(`${row.service} ${row.operation}`, [
    rates ? count(row.total) : ratio(row.perSecond),
    rates ? count(row.totalErrors) : ratio(row.errorsPerSecond),
    withUnit(row.p50Ms, 'ms'),
    withUnit(row.p95Ms, 'ms'),
  ]);
  return (row.errorsPerSecond ?? row.totalErrors) > 0 ? style.red(text) : text;
}

function line(label: string, cells: readonly string[]): string {
  const cut = label.length > LABEL ? `${label.slice(0, LABEL - 1)}…` : label;
  return `${cut.padEnd(LABEL)}${cells.map((cell) => cell.padStart(9)).join('')}`.trimEnd();
}

function count(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}

function ratio(value: number | undefined): string {
  return value === undefined ? '' : value.toFixed(1);
}

function withUnit(value: number | undefined, unit: string): string {
  return value === undefined
    ? '-'
    : `${value < 10 ? value.toFixed(1) : Math.round(value)}${unit === '' ? '' : ` ${unit}`}`;
}
