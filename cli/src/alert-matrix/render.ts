import { paintVerdict } from '../output/check.ts';
import type { Style } from '../output/style.ts';
import { formatTable } from '../output/table.ts';
import { formatDuration } from '../shared/duration.ts';
import type { MatrixReport } from './evaluate.ts';
import { writeSeconds } from './goals.ts';
import type { Times } from './metrics.ts';
import { pairName } from './pair.ts';
import type { Cell, CellVerdict, PairResult } from './result.ts';

const glyphs = {
  hit: '✓',
  silent: '·',
  missed: '✗',
  false: '!',
  unknown: '?',
} as const satisfies Record<CellVerdict, string>;

const COLOURS = {
  hit: 'green',
  silent: 'dim',
  missed: 'red',
  false: 'red',
  unknown: 'yellow',
} as const satisfies Record<CellVerdict, keyof Style>;

/** The alerts that have something to show: pages, and others that fired or had to. Pure. */
export function shownAlerts({ start, pairs }: MatrixReport): MatrixReport['start']['alerts'] {
  const cells = pairs.flatMap((pair) => pair.cells);
  const isShown = (alertname: string) =>
    cells.some((cell) => cell.alertname === alertname && (cell.firedS !== undefined || cell.verdict === 'missed'));
  return start.alerts.filter(
    ({ alertname, severity }) => severity !== 'none' && (severity === 'page' || isShown(alertname)),
  );
}

/** `✓ 12`; a glyph alone where nothing fired. Pure. */
export function cellText({ verdict, firedS }: Cell): string {
  return firedS === undefined ? glyphs[verdict] : `${glyphs[verdict]} ${Math.round(firedS)}`;
}

/** The table, what its columns are, and the numbers below it. */
export function renderMatrix(report: MatrixReport, style: Style): string {
  const alerts = shownAlerts(report);
  const header = ['FAULT', 'CUSTOMERS', ...alerts.map((_, index) => letterOf(index))];
  const rows = report.pairs.map((pair) => [
    pair.name,
    hitText(pair, style),
    ...alerts.map(({ alertname }) => paintCell(pair, alertname, style)),
  ]);
  const columns = alerts.map(({ alertname, severity }, index) => [letterOf(index), alertname, style.dim(severity)]);
  return [
    formatTable(header, rows),
    `${formatTable([], columns)}\n\n${LEGEND}`,
    ...renderReasons(report, style),
    renderNumbers(report, style),
  ].join('\n\n');
}

const LEGEND = '✓ fired after so many s   · rightly silent   ✗ missed   ! false   ? unknown';

function letterOf(index: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + index);
}

function hitText({ isHit }: PairResult, style: Style): string {
  if (isHit === undefined) return style.yellow('unknown');
  return isHit ? 'hit' : style.dim('none');
}

function paintCell({ cells }: PairResult, alertname: string, style: Style): string {
  const cell = cells.find((one) => one.alertname === alertname);
  return cell === undefined ? '' : style[COLOURS[cell.verdict]](cellText(cell));
}

function renderReasons({ pairs }: MatrixReport, style: Style): readonly string[] {
  const lines = pairs
    .filter(({ verdict }) => verdict !== 'pass')
    .map(({ name, verdict, reasons }) => `${paintVerdict(verdict, style, 8)} ${name}: ${reasons.join('; ')}`);
  return lines.length === 0 ? [] : [lines.join('\n')];
}

/** The goals, what was counted, and what is left to do. Pure. */
function renderNumbers({ goals, metrics, open, start, verdict, tookMs }: MatrixReport, style: Style): string {
  const { hitPairs, detectedPairs, pages, truePages, missed, measured, planned } = metrics;
  const facts = [
    ...goals.map(({ name, wanted, observed, verdict: reached }) => [
      name,
      observed,
      style.dim(wanted),
      paintVerdict(reached, style),
    ]),
    ['detection', timesText(metrics.detection)],
    ['clear', timesText(metrics.clear)],
    ['slow to clear', slowText(metrics)],
    ['customers hit', `${hitPairs} of ${measured} faults, ${detectedPairs} of them with a page`],
    ['pages', `${truePages} of ${pages} belong to their fault; ${missed} expected alerts did not fire`],
  ];
  const done = measured === planned ? `${measured} pairs` : `${measured} of ${planned} pairs`;
  const lines = [
    ...(open.length > 0
      ? [`not measured: ${open.map(pairName).join(', ')}`, `"shopctl alerts matrix --resume ${start.runId}" goes on`]
      : []),
    ...(start.leftOut > 0
      ? [
          style.dim(
            `${start.leftOut} pairs of faults that show little beyond others were left out; --all takes them too`,
          ),
        ]
      : []),
  ];
  return [
    formatTable([], facts),
    ...lines,
    `${paintVerdict(verdict, style)}: ${done} in ${formatDuration(tookMs)}`,
  ].join('\n');
}

/** No times: most of these pages go on for longer than the matrix looks, which does not wait for them. */
function slowText({ slowClear: { count }, slowCleared }: MatrixReport['metrics']): string {
  if (count === 0) return 'none';
  return `${count} pages with windows of minutes, of which ${slowCleared} ended before their pairs did`;
}

function timesText({ count, p50, p95, max }: Times): string {
  if (count === 0) return 'none';
  return `p50 ${writeSeconds(p50)}, p95 ${writeSeconds(p95)}, max ${writeSeconds(max)} of ${count}`;
}
