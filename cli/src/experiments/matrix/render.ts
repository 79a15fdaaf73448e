import { verdictColours } from '../../output/check.ts';
import type { Style } from '../../output/style.ts';
import { formatTable } from '../../output/table.ts';
import { serviceNames } from '../../topology/services.ts';
import type { Boundary } from './boundaries.ts';
import { type Plan, type Row, rowName } from './plan.ts';
import type { Cell, MatrixFinding, MatrixResult } from './run-matrix.ts';

const SIGNS = {
  pass: '✓',
  fail: '✗',
  unknown: '?',
  dirty: '!',
  interrupted: '-',
  'not covered': '·',
} as const satisfies Record<Cell['verdict'], string>;

const COLOURS = {
  ...verdictColours,
  'not covered': 'dim',
} as const satisfies Record<Cell['verdict'], keyof Style>;

/** How to see one finding again. */
export interface Repetition {
  readonly seed: number;
  readonly seededBugs: readonly string[];
}

/** One table for each service: a row a fault, a column a boundary; blank where an order does not meet the fault. */
export function renderMatrix({ boundaries }: Plan, { cells }: MatrixResult, style: Style): string {
  const tables = serviceNames.flatMap((service) => {
    const columns = boundaries.filter((boundary) => boundary.service === service);
    const own = cells.filter(({ boundary }) => boundary.service === service);
    return own.length === 0 ? [] : [tableOf(service, columns, own, style)];
  });
  return [...tables, legendOf(cells, style)].join('\n\n');
}

function tableOf(service: string, columns: readonly Boundary[], cells: readonly Cell[], style: Style): string {
  const rows = [...Map.groupBy(cells, ({ row }) => rowName(row))].sort(([a], [b]) => a.localeCompare(b));
  const lines = rows.map(([name, own]) => [
    name,
    ...columns.map((column) => {
      const cell = own.find(({ boundary }) => boundary === column);
      return cell === undefined ? '' : style[COLOURS[cell.verdict]](SIGNS[cell.verdict]);
    }),
  ]);
  return formatTable([service, ...columns.map(({ at }) => at)], lines);
}

/** `✓ 38 pass  ? 2 unknown` */
function legendOf(cells: readonly Cell[], style: Style): string {
  const verdicts = Object.keys(SIGNS) as Cell['verdict'][];
  const counts = verdicts.map((verdict) => ({ verdict, count: countOf(cells, verdict) }));
  return counts
    .filter(({ count }) => count > 0)
    .map(({ verdict, count }) => `${style[COLOURS[verdict]](SIGNS[verdict])} ${count} ${verdict}`)
    .join('  ');
}

export function countOf(cells: readonly Cell[], verdict: Cell['verdict']): number {
  return cells.filter((cell) => cell.verdict === verdict).length;
}

/** What is smallest, why, and the command that shows it again. */
export function renderFinding(finding: MatrixFinding, repetition: Repetition): string {
  const { kind, row, boundaries, reasons } = finding;
  const where = boundaries.map(({ name }) => name).join(', ');
  const words = {
    pair: `${rowName(row)} while an order is held at ${where}`,
    boundary: `an order held at ${where}, without any fault (met under ${rowName(row)})`,
    fault: `${rowName(row)}, also with no order held (met at ${where})`,
    'not shrunk': `${rowName(row)} with orders held at ${where}; there was no time to shrink it`,
  } as const;
  return [
    `${kind}: ${words[kind]}`,
    ...reasons.map((reason) => `  ${reason}`),
    `  again: ${commandFor(row, boundaries, repetition)}`,
  ].join('\n');
}

/** `shopctl chaos matrix --fault partition --target orders-payments --at orders.stock-reserved:unsaved --seed 7` */
export function commandFor({ fault, target }: Row, boundaries: readonly Boundary[], repetition: Repetition): string {
  const places = boundaries.map(({ name }) => `--at ${name}`);
  const seededBugs = repetition.seededBugs.map((name) => `--seed-bug ${name}`);
  const words = [`--fault ${fault.name}`, `--target ${target}`, ...places, `--seed ${repetition.seed}`, ...seededBugs];
  return `shopctl chaos matrix ${words.join(' ')}`;
}
