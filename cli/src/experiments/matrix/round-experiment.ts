import { writeDuration } from '../../shared/duration.ts';
import { serviceNames } from '../../topology/services.ts';
import { resolveFile } from '../format/load.ts';
import type { ResolvedExperiment } from '../format/schema.ts';
import type { Boundary, OrderPath } from './boundaries.ts';
import { type Row, rowName } from './plan.ts';

/** What one run does. Without a row orders are only held; without boundaries they only meet the fault. */
export interface RoundSpec {
  readonly row: Row | undefined;
  readonly boundaries: readonly Boundary[];
  /** How the orders are made to pass the boundaries; also of the orders of a run without boundaries. */
  readonly path: OrderPath;
}

/** Step names that the evaluation looks for. */
export const FAULT_STEP = 'the fault';
export const holdStep = ({ name }: Boundary) => `hold at ${name}`;
export const heldStep = ({ name }: Boundary) => `held at ${name}`;
export const orderStep = ({ name }: Boundary) => `order for ${name}`;

/** Orders of a run without boundaries. */
const PLAIN_ORDERS = 3;
/** How much longer than the hold the fault lasts at least: an order goes on under it. ms. */
const UNDER_FAULT_MS = 1_500;

/** The round as an experiment, checked like every file. `seededBugs`: those that the platform has. */
export function roundExperiment(spec: RoundSpec, seededBugs: readonly string[]): ResolvedExperiment {
  const { row, boundaries } = spec;
  const place = boundaries.length === 0 ? 'no order is held' : `${boundaries.length} orders are held`;
  const file = {
    version: 'shop.chaos/v1',
    id: idOf(row),
    title: `${row === undefined ? 'No fault' : rowName(row)} while ${place}`,
    why: `Orders held at ${boundaries.map(({ name }) => name).join(', ') || 'no boundary'} end as they must under the fault.`,
    tags: ['matrix'],
    platform: { failpoints: true, 'seeded-bugs': seededBugs },
    budget: '5m',
    'steady-state-hypothesis': { title: 'All ready, nothing in flight', probes: STEADY },
    method: methodOf(spec),
    recovery: RECOVERY,
    never: neverOf(row),
    // A process that is killed takes the counts of its last second along.
    audit: { accept: { I11: ['unknown'] }, settle: '60s' },
  };
  // It refers to no trace contract, and to no alert.
  const { experiment, problems } = resolveFile(
    { value: file, errors: [], placeOf: () => ({ line: 1, column: 1 }) },
    { known: { contracts: () => new Map(), alerts: () => [] } },
  );
  if (experiment !== undefined) return experiment;
  const reported = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw new Error(`a round of the matrix is not a valid experiment: ${reported}`);
}

function idOf(row: Row | undefined): string {
  return `matrix-${row === undefined ? 'no-fault' : rowName(row).replaceAll(/[^A-Za-z0-9]+/g, '-')}`.slice(0, 60);
}

const STEADY = [
  probe('ready', { type: 'ready', target: 'all' }, true, '60s'),
  probe('outbox drained', { type: 'metric', name: 'shop.outbox.pending', of: 'max' }, 0, '20s'),
  probe('no compensation waits', { type: 'metric', name: 'shop.compensations.waiting', of: 'max' }, 0, '20s'),
];

/** A start may take long on a machine that does other things; a saga is adopted 5 s later, a compensation due within 5 s. */
const RECOVERY = [
  probe('all back', { type: 'ready', target: 'all' }, true, '60s'),
  probe(
    'every saga has ended',
    { type: 'sql', database: 'orders', query: 'SELECT count(*)::int FROM orders WHERE open' },
    0,
    '30s',
  ),
  probe('an order is confirmed again', { type: 'orders' }, { each: { response: 'Confirmed' } }, '30s'),
];

function probe(name: string, provider: object, tolerance: unknown, within: string) {
  return { name, type: 'probe', provider, tolerance, within };
}

function methodOf(spec: RoundSpec): readonly object[] {
  const { row, boundaries, path } = spec;
  const lost = path === 'refunded' ? [LOSE_CHARGES] : [];
  const fault = row === undefined ? [] : [faultStep(row)];
  const longest = Math.max(0, ...boundaries.map(({ holdMs }) => holdMs));
  const under = { name: 'under the fault', type: 'hold', for: writeDuration(longest + UNDER_FAULT_MS) };
  if (boundaries.length === 0) {
    const names = Array.from({ length: PLAIN_ORDERS }, (_, index) => `order ${index + 1}`);
    return [...lost, ...fault, ...ordersOf(names, spec), under, ...names.map(join)];
  }
  const names = boundaries.map(orderStep);
  return [
    ...lost,
    ...boundaries.map(hold),
    ...ordersOf(names, spec),
    ...boundaries.map(held),
    ...fault,
    under,
    ...names.map(join),
  ];
}

function faultStep({ fault, target, parameters }: Row): object {
  return {
    name: FAULT_STEP,
    type: 'action',
    provider: { type: 'fault', fault: fault.name, target, ...parameters },
    witness: { within: '10s' },
  };
}

/** The next order that passes is held, once: of as many orders as boundaries each is held at one. */
function hold(boundary: Boundary): object {
  const { service, at, holdMs } = boundary;
  return {
    name: holdStep(boundary),
    type: 'action',
    provider: {
      type: 'fault',
      fault: 'failpoint',
      target: service,
      at,
      action: 'delay',
      delay: writeDuration(holdMs),
      times: 1,
    },
  };
}

/** Nothing has passed since the run began: its first hit is the one that is held. */
function held(boundary: Boundary): object {
  return {
    name: heldStep(boundary),
    type: 'probe',
    provider: { type: 'event', event: 'failpoint', at: boundary.name },
    within: '3s',
  };
}

/** A charge without a clear outcome is given back. Both attempts are lost, also of the orders that repeat them. */
const LOSE_CHARGES = {
  name: 'responses of charges are lost',
  type: 'action',
  provider: {
    type: 'fault',
    fault: 'failpoint',
    target: 'payments',
    at: 'charge-decided:response-unsent',
    action: 'drop-reply',
    every: 1,
  },
};

/** Of different products, which share no row of stock that one of them could keep locked. */
function ordersOf(names: readonly string[], { path, row }: RoundSpec): readonly object[] {
  return names.map((name, index) => ({
    name,
    type: 'probe',
    provider: { type: 'orders', product: path === 'declined' ? DECLINED : 1 + (index % AFFORDABLE) },
    tolerance: { each: { response: { in: responsesUnder(row) } } },
    background: true,
  }));
}

/** Products 1 to 9 are affordable and there are enough of them; 12 costs more than the payment limit. */
const AFFORDABLE = 9;
const DECLINED = 12;

/**
 * Whatever is wrong behind it, the gateway responds; only the gateway itself and what it waits for a client may be
 * silent.
 */
function responsesUnder(row: Row | undefined): readonly string[] {
  const reported = ['Confirmed', 'Cancelled', 'problem'];
  return row?.target === 'gateway' ? [...reported, 'none'] : reported;
}

function join(name: string): object {
  return { name: `${name} has ended`, type: 'action', provider: { type: 'join', of: name } };
}

/** Holding is a fault too, as the runner sees it; the service that holds must not end either. */
function neverOf(row: Row | undefined): readonly object[] {
  const processes = [...serviceNames, 'postgres', 'rabbitmq'];
  return processes.filter((name) => name !== row?.target).map((target) => ({ event: 'process.exit', target }));
}
