import type { TraceSpan } from '../../../cli/src/trace/tree.ts';
import type { TestPlatform } from '../../support/platform.ts';
import { type ClientResponse, type Line, place } from './client.ts';
import { eventually } from './eventually.ts';

/** From the end of a process until the supervisor has another one ready, in ms; this machine is slow when it is busy. */
const RESTART_MS = 20_000;

export interface Crash {
  /** The client's response; undefined when its connection broke. */
  readonly response: ClientResponse | undefined;
  /** Name of the instance that crashed. */
  readonly instance: string;
  /** Its process. */
  readonly pid: number;
  /** When its end was seen, on the monotonic clock in ms. */
  readonly at: number;
}

/**
 * Places an order while a failpoint is armed. Resolves when the process that passed it has ended, by SIGKILL; the
 * supervisor may have started another since.
 */
export async function placeAndCrash(
  platform: TestPlatform,
  failpoint: string,
  order: { readonly key: string; readonly lines?: readonly Line[]; readonly action?: string },
): Promise<Crash> {
  const service = failpoint.split('.')[0] as string;
  const before = await processesOf(platform, service);
  await platform.arm(failpoint, order.action ?? 'kill');
  // A broken connection is one of the results that a crash may have.
  const response = await place(platform, order).catch(() => undefined);
  const victim = await eventually(
    `${failpoint} to be passed and a ${service} to end`,
    { withinMs: 10_000 },
    async () => {
      if ((await platform.armed()).length > 0) return undefined;
      const now = await processesOf(platform, service);
      return [...before].find(([name, pid]) => now.get(name) !== pid);
    },
  );
  return { response, instance: victim[0], pid: victim[1], at: performance.now() };
}

/** Resolves when every instance of the service is ready again. */
export async function untilReady(platform: TestPlatform, service: string): Promise<void> {
  const instances = async () => (await platform.state()).instances.filter((instance) => instance.service === service);
  const seen = async () => (await instances()).map(({ name, status, reason }) => ({ name, status, reason }));
  await eventually(`${service} to be ready again`, { withinMs: RESTART_MS, seen }, async () =>
    (await instances()).every(({ status, process }) => status === 'ready' && isRunning(process?.pid)),
  );
}

/**
 * Resolves when the caller of the service, orders or the gateway, uses all its replicas again. A replica that is ready may still be
 * ejected: until the next probe there is only the other one.
 */
export async function untilReadmitted(platform: TestPlatform, service: string): Promise<void> {
  const readyAt = Date.now();
  const edge = service === 'orders' ? 'gateway-orders' : `orders-${service}`;
  const ejected = async () => {
    const points = await platform.telemetry.metrics(['shop.replicas.ejected']);
    return points.filter(({ attributes, stale }) => attributes.edge === edge && !stale);
  };
  await eventually(`all of ${edge} to be used`, { withinMs: RESTART_MS, seen: ejected }, async () => {
    const points = await ejected();
    return (
      points.length > 0 &&
      points.every((point) => point.type !== 'histogram' && point.value === 0 && point.time > readyAt)
    );
  });
}

/** Living processes of a service by instance. */
async function processesOf({ state }: TestPlatform, service: string): Promise<ReadonlyMap<string, number>> {
  const { instances } = await state();
  return new Map(
    instances.flatMap(({ name, service: of, process }) =>
      of === service && process !== undefined && isRunning(process.pid) ? [[name, process.pid]] : [],
    ),
  );
}

function isRunning(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // ESRCH: it has ended.
  }
}

/** The id of the order with this key; undefined when none was recorded. */
export async function findByKey({ query }: TestPlatform, key: string): Promise<string | undefined> {
  const rows = await query<{ id: string }>('orders', 'SELECT id FROM orders WHERE idempotency_key = $1', [key]);
  return rows[0]?.id;
}

/** Spans of a trace by name. */
export async function spansOf({ telemetry }: TestPlatform, traceId: string, name: string): Promise<TraceSpan[]> {
  const { spans } = await telemetry.trace(traceId);
  return spans.filter((span) => span.name === name);
}

/** The spans directly under one. */
export async function childrenOf({ telemetry }: TestPlatform, traceId: string, spanId: string): Promise<TraceSpan[]> {
  const { spans } = await telemetry.trace(traceId);
  return spans.filter(({ parentSpanId }) => parentSpanId === spanId);
}
