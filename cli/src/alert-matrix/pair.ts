import { CliError } from '../errors.ts';
import { noSuch, rowsFor } from '../experiments/matrix/plan.ts';

/** A fault and what it is aimed at: a row of the matrix. */
export interface Pair {
  readonly fault: string;
  readonly target: string;
  /** As experiments write them. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Of pairs that differ in their parameters alone. */
  readonly variant?: string;
  /** A fault that makes a backlog first, and is reverted when the pair's own fault is injected. */
  readonly backlog?: Pick<Pair, 'fault' | 'target' | 'parameters'>;
  /** What it does to orders does not end with it: the platform is replaced afterwards. */
  readonly lastsLonger?: boolean;
  /** Its fault ends scrapes: that some are missing says nothing about the machine. */
  readonly endsScrapes?: boolean;
}

/** Why a fault is not measured unless it is asked for. */
export interface LeftOut {
  /** The faults that show nearly all that it would, on the same targets. */
  readonly others: readonly string[];
  readonly why: string;
  /** The one target on which it is measured all the same, so that every fault is: where it is least like the others. */
  readonly measuredOn: string;
}

/** Faults that show little beyond others, at their default strength. The matrix would take two thirds longer with them. */
export const leftOutFaults: ReadonlyMap<string, LeftOut> = new Map([
  [
    'timeout',
    {
      others: ['partition'],
      measuredOn: 'orders-broker',
      why: 'Responses disappear, requests do not. A caller meets the same. On orders-broker one batch of events arrives without its confirms, and no further one.',
    },
  ],
  [
    'reset_peer',
    {
      others: ['down'],
      measuredOn: 'gateway-orders',
      why: 'Connections are reset at their first byte, and not refused. Neither serves.',
    },
  ],
  [
    'limit_data',
    {
      others: ['down'],
      measuredOn: 'orders-stock',
      why: 'Connections are closed after their first byte, and not refused. Neither serves.',
    },
  ],
  [
    'bandwidth',
    {
      others: ['latency', 'partition', 'slicer'],
      measuredOn: 'shipping-broker',
      why: 'Responses come at 1 KB/s: small ones late, large ones never in time. On shipping-broker it is a slow consumer, as slicer is.',
    },
  ],
  [
    'slow_close',
    {
      others: ['slicer'],
      measuredOn: 'orders-payments',
      why: 'Only the ends of connections are late. That is less than late packets.',
    },
  ],
  [
    'restart',
    {
      others: ['term'],
      measuredOn: 'orders',
      why: 'The next process of a service is ready before it ends. That is less than an end and a start.',
    },
  ],
  [
    'slow-start',
    {
      others: ['term', 'stop'],
      measuredOn: 'payments',
      why: 'The process is down for 3 s longer than after term, and not as long as under stop.',
    },
  ],
]);

/** What `chaos matrix` excludes, for reasons that are none here, and one that is weaker than its default. */
const additional: readonly Pair[] = [
  { fault: 'latency', target: 'orders-payments', parameters: { latency: '1.5s' }, variant: 'within the timeout' },
  { fault: 'unbind', target: 'rabbitmq', parameters: {}, lastsLonger: true },
  {
    fault: 'purge',
    target: 'rabbitmq',
    parameters: {},
    variant: 'of a backlog',
    backlog: { fault: 'down', target: 'shipping-broker', parameters: {} },
    lastsLonger: true,
  },
  { fault: 'clock', target: 'orders', parameters: { offset: '1h' }, lastsLonger: true },
  { fault: 'clock', target: 'shipping', parameters: { offset: '-1h' }, lastsLonger: true },
  { fault: 'telemetry-outage', target: 'telemetry', parameters: {}, lastsLonger: true, endsScrapes: true },
];

/** `latency orders-payments (within the timeout)`; unique. */
export function pairName({ fault, target, variant }: Pick<Pair, 'fault' | 'target' | 'variant'>): string {
  return variant === undefined ? `${fault} ${target}` : `${fault} ${target} (${variant})`;
}

/** Every pair there is, faults in the order of their catalog. */
export function allPairs(): readonly Pair[] {
  const rows = rowsFor({}).map(({ fault, target, parameters }) => ({ fault: fault.name, target, parameters }));
  return [...rows, ...additional];
}

export interface PairSelection {
  /** Names; empty or absent: all. */
  readonly faults?: readonly string[] | undefined;
  readonly targets?: readonly string[] | undefined;
  /** With those of faults that are left out. */
  readonly all?: boolean | undefined;
}

/** What a run measures. */
export interface PairPlan {
  readonly pairs: readonly Pair[];
  /** How many are not measured because others show nearly all that they would. */
  readonly leftOut: number;
}

/**
 * The pairs that are chosen; without a choice every fault and every target, but not each fault on each target. Faults take turns, so that a run that is cut short has met many. Those
 * whose effects last longer come last. Throws CliError (2) for a name that no pair has.
 */
export function planPairs({ faults = [], targets = [], all = false }: PairSelection): PairPlan {
  const everything = allPairs();
  requireKnown(
    'fault',
    faults.map(plain),
    everything.map(({ fault }) => plain(fault)),
  );
  requireKnown(
    'target',
    targets,
    everything.map(({ target }) => target),
  );
  const chosen = everything.filter(
    ({ fault, target }) =>
      (faults.length === 0 || faults.some((name) => plain(name) === plain(fault))) &&
      (targets.length === 0 || targets.includes(target)),
  );
  const isNamed = faults.length > 0;
  const pairs = all || isNamed ? chosen : chosen.filter((pair) => !isLeftOut(pair));
  if (pairs.length === 0) throw emptySelection();
  const isLast = ({ lastsLonger = false }: Pair) => (lastsLonger ? 1 : 0);
  return { pairs: inTurns(pairs).toSorted((a, b) => isLast(a) - isLast(b)), leftOut: chosen.length - pairs.length };
}

function isLeftOut({ fault, target }: Pair): boolean {
  const leftOut = leftOutFaults.get(fault);
  return leftOut !== undefined && leftOut.measuredOn !== target;
}

/** `slow_close` may be written `slow-close`. */
function plain(name: string): string {
  return name.replaceAll('_', '-');
}

function requireKnown(kind: 'fault' | 'target', names: readonly string[], all: readonly string[]): void {
  const known = [...new Set(all)];
  for (const name of names) if (!known.includes(name)) throw noSuch(kind, name, known);
}

function emptySelection(): CliError {
  return new CliError({
    code: 'empty_selection',
    what: 'nothing is left to be measured',
    why: 'none of the faults has one of the targets',
    next: 'leave --faults or --targets out; "shopctl alerts matrix --dry-run" lists what there is',
  });
}

/** One pair of each fault, then a second of each, and so on. */
function inTurns(pairs: readonly Pair[]): readonly Pair[] {
  const byFault = [...Map.groupBy(pairs, ({ fault }) => fault).values()];
  const longest = Math.max(0, ...byFault.map(({ length }) => length));
  return Array.from({ length: longest }, (_, turn) => byFault.flatMap((own) => own[turn] ?? [])).flat();
}
