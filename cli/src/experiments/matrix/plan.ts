import type { AnyFault, Scope } from '../../chaos/fault.ts';
import { CliError } from '../../errors.ts';
import { suggestName } from '../../shared/suggest-name.ts';
import { edges } from '../../topology/services.ts';
import { createRandom } from '../run/random.ts';
import { type Boundary, boundaries, type OrderPath } from './boundaries.ts';
import { type MatrixFault, matrixFaults } from './matrix-faults.ts';

/** A fault and what it is aimed at: a row of the matrix. */
export interface Row extends MatrixFault {
  readonly target: string;
}

/** One experiment: a fault, while an order is held at each of these boundaries. */
export interface Round {
  readonly row: Row;
  /** All of one path. */
  readonly boundaries: readonly Boundary[];
}

export interface Selection {
  /** Names; empty or absent: all. */
  readonly faults?: readonly string[] | undefined;
  readonly targets?: readonly string[] | undefined;
  readonly boundaries?: readonly Boundary[] | undefined;
}

export interface Plan {
  readonly rows: readonly Row[];
  readonly boundaries: readonly Boundary[];
  readonly rounds: readonly Round[];
  /** Pairs of a row and a boundary whose order does not meet what the fault is aimed at. */
  readonly unreachable: number;
}

/** Orders held concurrently; more would make a round that fails slower to shrink than it saves when it passes. */
const ROUND_SIZE = 7;

/** `partition orders-payments` */
export function rowName({ fault, target }: Row): string {
  return `${fault.name} ${target}`;
}

export function cellsOf(rounds: readonly Round[]): number {
  return rounds.reduce((sum, round) => sum + round.boundaries.length, 0);
}

/**
 * What is to be run, in which order: faults take turns, so that a run that is cut short has met many of them. The same
 * selection and seed give the same plan. Throws CliError (2) for a name that the matrix does not have.
 */
export function planMatrix(selection: Selection, seed: number): Plan {
  const columns = selection.boundaries?.length ? selection.boundaries : boundaries;
  const rows = rowsFor(selection).filter((row) => columns.some((boundary) => isMet(row, boundary)));
  if (rows.length === 0) {
    throw new CliError({
      code: 'empty_selection',
      what: 'nothing is left to be run',
      why: 'no order at these boundaries meets what the faults are aimed at',
      next: 'leave --target or --at out; "shopctl chaos matrix --dry-run" shows what there is',
    });
  }
  const rounds = inTurns(
    rows.flatMap((row) => roundsOf(row, columns, seed)),
    seed,
  );
  return { rows, boundaries: columns, rounds, unreachable: rows.length * columns.length - cellsOf(rounds) };
}

/** The first rounds with so many cells altogether; the last one may lose some of its boundaries. */
export function sample(rounds: readonly Round[], count: number): readonly Round[] {
  const chosen: Round[] = [];
  let left = count;
  for (const round of rounds) {
    if (left <= 0) break;
    chosen.push({ ...round, boundaries: round.boundaries.slice(0, left) });
    left -= round.boundaries.length;
  }
  return chosen;
}

/** Every fault of the matrix with each of its targets. Throws CliError (2) for a name that the matrix does not have. */
export function rowsFor({ faults = [], targets = [] }: Selection): readonly Row[] {
  const plain = (name: string) => name.replaceAll('_', '-');
  const chosen = faults.length === 0 ? matrixFaults : faults.map((name) => named(name, matrixFaults, plain));
  const rows = chosen.flatMap(({ fault, parameters }) =>
    targetsOf(fault.scope)
      .filter((target) => isAccepted(fault, target))
      .map((target) => ({ fault, parameters, target })),
  );
  const known = [...new Set(rows.map(({ target }) => target))];
  for (const target of targets) if (!known.includes(target)) throw noSuch('target', target, known);
  return targets.length === 0 ? rows : rows.filter(({ target }) => targets.includes(target));
}

/** Whether the fault has an effect there with its default parameters. */
function isAccepted({ defaults, check }: AnyFault, target: string): boolean {
  if (!('parameters' in defaults)) return false;
  try {
    check?.({ target, parameters: defaults.parameters });
    return true;
  } catch (error) {
    if (error instanceof CliError) return false;
    throw error;
  }
}

function named(name: string, all: readonly MatrixFault[], plain: (name: string) => string): MatrixFault {
  const found = all.find(({ fault }) => plain(fault.name) === plain(name));
  if (found !== undefined) return found;
  throw noSuch(
    'fault',
    name,
    all.map(({ fault }) => fault.name),
  );
}

export function noSuch(kind: 'fault' | 'target', name: string, known: readonly string[]): CliError {
  const suggestion = suggestName(name, known);
  return new CliError({
    code: kind === 'fault' ? 'unknown_fault' : 'unknown_fault_target',
    what: `the matrix has no ${kind} "${name}"${suggestion ? `, did you mean "${suggestion}"?` : ''}`,
    next: `${kind}s it has: ${known.join(', ')}`,
  });
}

/** What faults of a scope are aimed at, over all boundaries; each once. */
function targetsOf(scope: Scope): readonly string[] {
  return [...new Set(boundaries.flatMap((boundary) => targetsAt(scope, boundary)))];
}

function isMet({ fault, target }: Row, boundary: Boundary): boolean {
  return targetsAt(fault.scope, boundary).includes(target);
}

/** What an order held at the boundary is going to meet, or is held by. Toxiproxy is the harness's own and no target. */
function targetsAt(scope: Scope, { service, path }: Boundary): readonly string[] {
  const near = edges.filter(({ from, to }) => from === service || to === service);
  const onTheWay = near.filter(({ name }) => service !== 'orders' || EDGES_OF_ORDERS[path].includes(name));
  const hasBroker = path === 'relay' || path === 'delivery';
  const hasDatabase = near.some(({ to }) => to === 'postgres');
  switch (scope) {
    case 'edge':
      return onTheWay.map(({ name }) => name);
    case 'process':
      return [service, ...(hasDatabase ? ['postgres'] : []), ...(hasBroker ? ['rabbitmq'] : [])];
    case 'instance':
      return [service];
    case 'database':
      return onTheWay.filter(({ to }) => to === 'postgres').map(({ name }) => name);
    case 'broker':
      return hasBroker ? ['rabbitmq'] : [];
    case 'telemetry':
    case 'service':
      return [];
  }
}

/** Of the many edges of orders those that an order on this path uses. */
const EDGES_OF_ORDERS: Readonly<Record<OrderPath, readonly string[]>> = {
  request: ['gateway-orders', 'orders-catalog', 'orders-stock', 'orders-payments', 'orders-db'],
  provider: [],
  declined: ['gateway-orders', 'orders-stock', 'orders-payments', 'orders-db'],
  refunded: ['orders-payments', 'orders-db'],
  relay: ['orders-db', 'orders-broker'],
  delivery: [],
};

function roundsOf(row: Row, columns: readonly Boundary[], seed: number): readonly Round[] {
  const own = columns.filter((boundary) => isMet(row, boundary));
  const byPath = [...Map.groupBy(own, ({ path }) => path)];
  return byPath.flatMap(([path, members]) => {
    const shuffled = shuffle(members, `${seed} ${rowName(row)} ${path}`);
    const count = path === 'relay' ? members.length : Math.ceil(members.length / ROUND_SIZE);
    return chunks(shuffled, count).map((chunk) => ({ row, boundaries: chunk }));
  });
}

function chunks<T>(all: readonly T[], count: number): readonly (readonly T[])[] {
  const size = Math.ceil(all.length / count);
  return Array.from({ length: count }, (_, index) => all.slice(index * size, (index + 1) * size)).filter(
    (chunk) => chunk.length > 0,
  );
}

/** One round of each fault, then a second of each, and so on. */
function inTurns(rounds: readonly Round[], seed: number): readonly Round[] {
  const byFault = [...Map.groupBy(rounds, ({ row }) => row.fault.name)];
  const queues = shuffle(byFault, `${seed} faults`).map(([name, own]) => shuffle(own, `${seed} rounds ${name}`));
  const longest = Math.max(0, ...queues.map(({ length }) => length));
  return Array.from({ length: longest }, (_, turn) => queues.flatMap((queue) => queue[turn] ?? [])).flat();
}

/** Fisher and Yates; the same text gives the same order. */
function shuffle<T>(all: readonly T[], seed: string): readonly T[] {
  const random = createRandom(seed);
  const result = [...all];
  for (let last = result.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}
