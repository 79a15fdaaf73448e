import { CliError, messageOf } from '../errors.ts';
import { createStyle } from '../output/style.ts';
import { createGatewayClient, RESPONSE_LIMIT_MS } from '../shop/gateway-client.ts';
import { type EventSources, orderContract } from '../shop/published-events.ts';
import { createAccountReader } from '../trace/accounting.ts';
import { assertTrace } from '../trace/assert.ts';
import { createBackend, type TelemetryBackend } from '../trace/backend.ts';
import { type contractNames, loadContract, type TraceContract } from '../trace/contract.ts';
import { diffLines, renderDiff } from '../trace/diff.ts';
import { repeatedCall } from './repeated-call.ts';
import { type Trip, tripped, unobserved } from './trip.ts';

export interface PreflightDeps extends EventSources {
  /** Where orders are placed: the gateway, or the one that is tried out. */
  readonly url: string;
  readonly telemetryUrl: string;
  readonly project: EventSources['project'] & { readonly root: string };
  readonly signal: AbortSignal;
}

export interface Subject {
  readonly service: string;
  /** One of them is to serve each order. */
  readonly instances: readonly string[];
  readonly track: string;
}

/** An order of the preflight: the name of its contract, and what it has to come to. */
export type PreflightOrder = keyof typeof orders;

const orders = {
  confirmed: { productId: 1, status: 'Confirmed', reason: null },
  // It costs more than payments accept (source: the catalog's seed).
  declined: { productId: 12, status: 'Cancelled', reason: 'payment declined' },
} as const satisfies Partial<Record<(typeof contractNames)[number], object>>;

const CONFIRMED = 5;
/** A declined order has calls that a confirmed one has not, and must not have others. */
const PLACED: readonly PreflightOrder[] = [...Array<'confirmed'>(CONFIRMED).fill('confirmed'), 'declined'];
/** Spans are exported once a second at the latest; the relay needs its poll and the broker. In ms. */
const TRACE_LIMIT_MS = 15_000;
/** A late extra span still fails it, ms. */
const SETTLE_MS = 1_000;

/**
 * Places orders that the new instances serve, and no client's. Each has to be confirmed, or declined, with the trace that its contract
 * has, in which a new instance is. Resolves with what was found; rejects with Trip.
 */
export async function runPreflight(subject: Subject, deps: PreflightDeps): Promise<string> {
  const backend = createBackend(deps.telemetryUrl);
  const { root } = deps.project;
  const contracts = {
    confirmed: await loadContract('confirmed', root),
    declined: await loadContract('declined', root),
  };
  const accounting = createAccountReader(backend);
  const disturbed = await checkOrders({
    place: (order, number) => placeOrder(subject, { order, number }, deps),
    check: (traceId, order) =>
      checkTrace(traceId, { subject, contract: contracts[order], backend, accounting, ...deps }),
  });
  const found = `${CONFIRMED} orders through ${subject.instances.join(', ')} confirmed and 1 declined, each with the trace of its contract`;
  return disturbed === undefined ? found : `${found}; one more says nothing of the release: ${disturbed.why}`;
}

/** Why the trace of an order is not as its contract, where that may be another's doing. */
export interface Disturbed {
  /** What had to be repeated. */
  readonly why: string;
  readonly trip: Trip;
}

/**
 * Has the orders placed and checked. One of them may be disturbed: a call was repeated, and another order takes its place. A
 * second one is the release's doing, and rejects with its Trip. Resolves with the one that was disturbed.
 */
export async function checkOrders({
  place,
  check,
}: {
  place(order: PreflightOrder, number: number): Promise<string>;
  /** Rejects with Trip. */
  check(traceId: string, order: PreflightOrder): Promise<Disturbed | undefined>;
}): Promise<Disturbed | undefined> {
  const placed: { readonly order: PreflightOrder; readonly traceId: string }[] = [];
  const placeNext = async (order: PreflightOrder) => {
    const next = { order, traceId: await place(order, placed.length + 1) };
    placed.push(next);
    return next;
  };
  for (const order of PLACED) await placeNext(order);
  // Concurrently: under a high load a trace is soon evicted to make room for newer ones.
  const found = await Promise.all(placed.map(({ traceId, order }) => check(traceId, order)));
  const [disturbed, second] = found.filter((one) => one !== undefined);
  if (second !== undefined) throw second.trip;
  if (disturbed === undefined) return undefined;
  const { traceId, order } = await placeNext(PLACED[found.indexOf(disturbed)] as PreflightOrder);
  const again = await check(traceId, order);
  if (again !== undefined) throw again.trip;
  return disturbed;
}

async function placeOrder(
  { track }: Subject,
  { order, number }: { readonly order: PreflightOrder; readonly number: number },
  { url, signal }: PreflightDeps,
): Promise<string> {
  const gateway = createGatewayClient(url);
  const { productId, ...expected } = orders[order];
  const request = { customer: 'preflight', lines: [{ productId, quantity: 1 }] };
  const what = `order ${number} of the preflight`;
  const response = await gateway
    .placeOrder(request, { timeoutMs: RESPONSE_LIMIT_MS, signal, track })
    .catch((error: unknown) => {
      signal.throwIfAborted();
      if (error instanceof CliError) throw tripped('preflight', `${what}: ${error.message}`);
      throw error;
    });
  if (response.kind === 'problem')
    throw tripped('preflight', `${what}: ${response.problem.status} ${response.problem.code}`);
  const { status, reason, traceId } = response;
  if (status !== expected.status || reason !== expected.reason)
    throw tripped('preflight', `${what} was ${status} (${reason ?? 'without a reason'})`);
  if (traceId === null) throw unobserved(`${what} names no trace: telemetry is off`);
  return traceId;
}

interface TraceCheck extends PreflightDeps {
  readonly subject: Subject;
  readonly contract: TraceContract;
  readonly backend: TelemetryBackend;
  readonly accounting: ReturnType<typeof createAccountReader>;
}

async function checkTrace(
  traceId: string,
  { subject, contract, backend, accounting, signal, project, outboxTypes }: TraceCheck,
): Promise<Disturbed | undefined> {
  const limits = { timeoutMs: TRACE_LIMIT_MS, settleMs: SETTLE_MS, underLoad: true };
  const unreadable = (error: unknown) => {
    signal.throwIfAborted();
    throw unobserved(`the trace ${traceId} cannot be read: ${messageOf(error)}`);
  };
  const asked = { contract, backend, traceId, project, outboxTypes, signal, timeoutMs: TRACE_LIMIT_MS };
  const { expected } = await orderContract(asked).catch(unreadable);
  const result = await assertTrace({ backend, traceId, expected, accounting, signal, ...limits }).catch(unreadable);
  const { verdict, explanation, comparison } = result;
  if (verdict === 'fail') {
    const details = renderDiff(diffLines(expected, comparison), createStyle({ enabled: false }));
    const trip = tripped('trace-shape', `the trace ${traceId} is not as its contract: ${explanation}`, details);
    const why = repeatedCall((await backend.trace(traceId)).spans, subject.service);
    if (why === undefined) throw trip;
    return { why: `${why} (trace ${traceId})`, trip };
  }
  if (verdict !== 'pass') throw unobserved(`the trace ${traceId}: ${explanation}`);
  const { spans } = await backend.trace(traceId);
  // Its event is published by whichever replica finds it first.
  const served = new Set(
    spans
      .filter(({ service, kind }) => service === subject.service && kind === 'server')
      .map(({ instance }) => instance),
  );
  if (served.size > 0 && [...served].every((name) => subject.instances.includes(name))) return undefined;
  throw unobserved(
    `${[...served].join(', ')} served the order of the trace ${traceId}, not ${subject.instances.join(', ')}`,
  );
}
