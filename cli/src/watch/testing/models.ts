import type { Lease } from '../../chaos/lease.ts';
import type { InstanceState, PlatformState } from '../../platform/state.ts';
import { anOrder } from '../../shop/testing/stories.ts';
import { edges } from '../../topology/services.ts';
import type { Figures, Red } from '../model/figures.ts';
import { initialModel, type WatchModel } from '../model/model.ts';
import { update } from '../model/update.ts';

/** Builders of what the screen shows: a platform whose broker has been cut off under a load for some seconds. */

export const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 50);
const megabytes = (count: number) => count * 1024 ** 2;

export function anInstance(name: string, change: Partial<InstanceState> = {}): InstanceState {
  const service = name.replace(/-\d+$/, '');
  return {
    name,
    service,
    kind: service === name ? 'component' : 'service',
    status: 'ready',
    ports: { main: 20_000 },
    restarts: 0,
    cpuPercent: 3.2,
    rssBytes: megabytes(84),
    ...change,
  };
}

const components = ['rabbitmq', 'postgres', 'toxiproxy'].map((name) => anInstance(name));
const services = ['gateway', 'orders', 'catalog', 'stock', 'payments', 'shipping'].map((name) =>
  anInstance(`${name}-1`),
);

const proxies = edges.map(({ name, from, to }, index) => ({
  name,
  from,
  to,
  listen: `127.0.0.1:${30_000 + index}`,
  upstream: `127.0.0.1:${20_000 + index}`,
}));

export function aState(change: Partial<PlatformState> = {}): PlatformState {
  return {
    project: 'shop',
    status: 'ready',
    supervisor: { pid: 1, startedAt: 0 } as unknown as PlatformState['supervisor'],
    mark: 'test',
    socketPath: '/nowhere',
    startedAt: new Date(NOW_MS - 260_000).toISOString(),
    direct: false,
    gatewayUrl: 'http://127.0.0.1:8080',
    telemetryUrl: 'http://127.0.0.1:4318',
    ports: {},
    instances: [...components, ...services],
    edges: proxies,
    startReport: [],
    warnings: [],
    replicas: {},
    faults: [],
    ...change,
  };
}

export function aLease(change: Partial<Lease> = {}): Lease {
  return {
    id: 'a1b2c3',
    fault: 'down',
    kind: 'proxy',
    target: 'orders-broker',
    parameters: {},
    status: 'active',
    since: new Date(NOW_MS - 18_000).toISOString(),
    ttlMs: 60_000,
    expiresAt: new Date(NOW_MS + 42_000).toISOString(),
    isHeld: false,
    ...change,
  };
}

const red = (perSecond: number, p50Ms: number): Red => ({
  perSecond,
  errorsPerSecond: 0,
  p50Ms,
  p95Ms: p50Ms * 2.4,
});

export function someFigures(change: Partial<Figures> = {}): Figures {
  const edge = (perSecond: number, p50Ms: number, breaker?: 'closed' | 'open') => ({
    ...red(perSecond, p50Ms),
    breaker,
    retriesPerSecond: 0,
  });
  return {
    services: {
      gateway: red(12, 21),
      orders: red(12, 19),
      catalog: red(12, 2.1),
      stock: red(12, 4.4),
      payments: red(12, 3.9),
    },
    waiting: { gateway: 1, orders: 1, catalog: 0, payments: 0, shipping: 0 },
    edges: {
      'gateway-orders': edge(12, 20, 'closed'),
      'orders-catalog': edge(12, 3.2, 'closed'),
      'orders-stock': edge(12, 6.1, 'closed'),
      'orders-payments': edge(12, 5.2, 'closed'),
      'orders-db': edge(60, 1.4),
      'orders-broker': edge(0, 0),
    },
    confirmed: { total: 1_204, perSecond: 12 },
    cancelled: { total: 31, perSecond: 0.2 },
    saga: { p50: 16, p95: 41, p99: 74 },
    pending: 216,
    ...change,
  };
}

const recent = (
  [
    ['c683879f', 'Confirmed', null],
    ['aaa3ac06', 'Confirmed', null],
    ['2632fad3', 'Cancelled', 'payment declined'],
    ['b8764c36', 'Confirmed', null],
    ['10f61600', 'Confirmed', null],
  ] as const
).map(([start, status, reason], index) =>
  anOrder({
    id: `${start}-5d4e-4f60-9a7b-8c9d0e1f2a3b`,
    status,
    reason,
    createdAt: new Date(NOW_MS - 400 * (index + 1)),
  }),
);

/** Seconds of the chart: nothing waits, then the broker is unavailable for 18 s under 12 orders a second. */
const SECONDS = 60;
const FAULT_SECONDS = 18;

/** The model after a minute of messages, as the feed sends them. */
export function aModel(change: Partial<WatchModel> = {}): WatchModel {
  let model = initialModel('shop', NOW_MS - SECONDS * 1_000);
  for (let second = SECONDS; second >= 0; second--) {
    const pending = second > FAULT_SECONDS ? 0 : (FAULT_SECONDS - second) * 12;
    model = {
      ...model,
      figures: someFigures({ pending }),
      faults: second > FAULT_SECONDS ? [] : [aLease()],
    };
    model = update(model, { type: 'tick', nowMs: NOW_MS - second * 1_000 }).model;
  }
  return {
    ...model,
    state: aState(),
    shop: { orders: recent, open: { inFlight: 2, compensating: 1, stuck: 0 }, pending: 216 },
    load: { perSecond: 12, endsAtMs: NOW_MS + 42_000, sent: 216, confirmed: 212, cancelled: 4, failed: 0 },
    notice: { tone: 'good', text: 'orders-broker down is in effect' },
    ...change,
  };
}
