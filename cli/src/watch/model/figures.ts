import { mergeDistributions, quantile } from '../../counters/histogram.ts';
import { ACTIVE_REQUESTS, type Change, changesBetween, type Sample, waitingIn } from '../../counters/report.ts';
import type { MetricPoint } from '../../otlp/metric-store.ts';
import type { PlatformState } from '../../platform/state.ts';
import { type Edge, edges } from '../../topology/services.ts';

/** Rate, errors and duration of what a service serves, or of what passes over an edge. */
export interface Red {
  readonly perSecond: number;
  readonly errorsPerSecond: number;
  /** Undefined while nothing passes. */
  readonly p50Ms: number | undefined;
  readonly p95Ms: number | undefined;
}

export type BreakerState = 'closed' | 'half-open' | 'open';

export interface EdgeFigures extends Red {
  /** Undefined for edges without a breaker, and while none reports. */
  readonly breaker: BreakerState | undefined;
  readonly retriesPerSecond: number;
}

/** Sagas that ended with one status. */
interface Ended {
  /** Since the services started. */
  readonly total: number;
  readonly perSecond: number;
}

/** What the metrics of a few seconds show. */
export interface Figures {
  /** By service; a service that has served nothing yet has none. */
  readonly services: Readonly<Record<string, Red>>;
  /** HTTP requests that wait for their response, by service; one that has reported none has none. */
  readonly waiting: Readonly<Record<string, number>>;
  /** By edge, replicas added. */
  readonly edges: Readonly<Record<string, EdgeFigures>>;
  readonly confirmed: Ended;
  readonly cancelled: Ended;
  /** `shop.saga.duration`, all statuses, ms. Undefined while no saga ends. */
  readonly saga: { readonly p50: number; readonly p95: number; readonly p99: number } | undefined;
  /** `shop.outbox.pending`; undefined while no instance of orders reports. */
  readonly pending: number | undefined;
}

/** Only these are asked for. */
export const watchedMetrics: readonly string[] = [
  'shop.sagas',
  'shop.saga.duration',
  'shop.outbox.pending',
  'shop.breaker.state',
  'shop.call.retries',
  'http.server.request.duration',
  ACTIVE_REQUESTS,
  'http.client.request.duration',
  'rpc.server.call.duration',
  'rpc.client.call.duration',
  'messaging.process.duration',
  'messaging.client.operation.duration',
  'db.client.operation.duration',
];

const SERVED = new Set(['http.server.request.duration', 'rpc.server.call.duration', 'messaging.process.duration']);

/** Metrics of calls that do not say where they went: the caller has one edge of this sort. */
const EDGE_OF_METRIC: Readonly<Record<string, Edge['protocol']>> = {
  'rpc.client.call.duration': 'grpc',
  'db.client.operation.duration': 'sql',
  'messaging.client.operation.duration': 'amqp',
  'messaging.process.duration': 'amqp',
};

/** Which edge an HTTP caller's `server.port` belongs to, by `service:port`. */
export type EdgePorts = ReadonlyMap<string, string>;

/** Through its proxies, or to the instances themselves where there are none. */
export function edgePortsOf({ edges: proxies, instances }: Pick<PlatformState, 'edges' | 'instances'>): EdgePorts {
  const direct = edges.flatMap(({ name, from, to }) =>
    instances.filter(({ service }) => service === to).map(({ ports }) => [`${from}:${ports.main}`, name] as const),
  );
  const proxied = proxies.map(({ name, from, listen }) => {
    // `orders-payments-2` is the proxy of the second replica.
    return [`${from}:${listen.slice(listen.lastIndexOf(':') + 1)}`, name.replace(/-\d+$/, '')] as const;
  });
  return new Map([...direct, ...proxied]);
}

/** What the newest sample says, with rates and durations since the oldest. Pure. */
export function figuresOf(window: readonly Sample[], ports: EdgePorts): Figures {
  const now = window.at(-1) ?? { time: 0, points: [] };
  const before = window.length > 1 ? window[0] : undefined;
  const seconds = before === undefined ? 0 : (now.time - before.time) / 1000;
  // Totals since the start are no rates: with one sample there are none.
  const rateOf = (count: number) => (seconds > 0 ? count / seconds : 0);
  const changes = changesBetween(now, before);
  const moved = before === undefined ? [] : changes;
  const ended = (status: string): Ended => {
    const own = changes.filter(({ point }) => point.name === 'shop.sagas' && point.attributes.status === status);
    return {
      total: sum(own.map(({ point }) => numberOf(point))),
      perSecond: rateOf(before === undefined ? 0 : sum(own.map(({ added }) => added))),
    };
  };
  return {
    services: recordOf(
      Map.groupBy(
        moved.filter(({ point }) => SERVED.has(point.name)),
        ({ point }) => point.service,
      ),
      (group) => redOf(group, rateOf),
    ),
    waiting: waitingIn(now),
    edges: edgesOf(changes, moved, ports, rateOf),
    confirmed: ended('Confirmed'),
    cancelled: ended('Cancelled'),
    saga: sagaOf(moved),
    pending: highest(now.points.filter(({ name, stale }) => name === 'shop.outbox.pending' && !stale)),
  };
}

function sagaOf(moved: readonly Change[]): Figures['saga'] {
  const own = moved.filter(({ point }) => point.name === 'shop.saga.duration');
  const merged = mergeDistributions(own.flatMap(({ distribution }) => distribution ?? []));
  const at = (q: number) => (merged === undefined ? undefined : quantile(merged, q));
  const [p50, p95, p99] = [at(0.5), at(0.95), at(0.99)];
  return p50 === undefined || p95 === undefined || p99 === undefined ? undefined : { p50, p95, p99 };
}

function edgesOf(
  changes: readonly Change[],
  moved: readonly Change[],
  ports: EdgePorts,
  rateOf: (count: number) => number,
): Figures['edges'] {
  const calls = Map.groupBy(moved, ({ point }) => edgeOf(point, ports) ?? '');
  const about = (metric: string, name: string) =>
    changes.filter(({ point }) => point.name === metric && point.attributes.edge === name);
  return Object.fromEntries(
    edges.map(({ name }) => {
      const states = about('shop.breaker.state', name).map(({ point }) => point);
      const retries = about('shop.call.retries', name).filter((change) => moved.includes(change));
      return [
        name,
        {
          ...redOf(calls.get(name) ?? [], rateOf),
          breaker: breakerOf(highest(states.filter(({ stale }) => !stale))),
          retriesPerSecond: rateOf(sum(retries.map(({ added }) => added))),
        },
      ];
    }),
  );
}

function edgeOf({ name, service, attributes }: MetricPoint, ports: EdgePorts): string | undefined {
  const protocol = EDGE_OF_METRIC[name];
  if (protocol !== undefined) return edges.find((edge) => edge.from === service && edge.protocol === protocol)?.name;
  if (name !== 'http.client.request.duration') return undefined;
  return ports.get(`${service}:${attributes['server.port']}`);
}

function redOf(group: readonly Change[], rateOf: (count: number) => number): Red {
  const merged = mergeDistributions(group.flatMap(({ distribution }) => distribution ?? []));
  const failed = group.filter(({ point }) => point.attributes['error.type'] !== undefined);
  return {
    perSecond: rateOf(sum(group.map(({ added }) => added))),
    errorsPerSecond: rateOf(sum(failed.map(({ added }) => added))),
    p50Ms: inMs(merged && quantile(merged, 0.5)),
    p95Ms: inMs(merged && quantile(merged, 0.95)),
  };
}

const BREAKER_STATES: readonly BreakerState[] = ['closed', 'half-open', 'open'];

function breakerOf(value: number | undefined): BreakerState | undefined {
  return value === undefined ? undefined : BREAKER_STATES[value];
}

function highest(points: readonly MetricPoint[]): number | undefined {
  return points.length === 0 ? undefined : Math.max(...points.map(numberOf));
}

function numberOf(point: MetricPoint): number {
  return point.type === 'histogram' ? point.count : point.value;
}

function inMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function recordOf<T, R>(groups: ReadonlyMap<string, T>, map: (group: T) => R): Record<string, R> {
  return Object.fromEntries([...groups].map(([key, group]) => [key, map(group)]));
}
