import { messageOf } from '../../errors.ts';
import type { Verdict } from '../../shared/verdict.ts';
import type { TraceSpan } from '../../trace/tree.ts';
import type { GuardReading } from '../analysis/guards.ts';
import { reads } from './seen.ts';

/** A confirmed order of a customer that can be compared with its contract. */
export interface SampledOrder {
  readonly traceId: string;
  readonly arm: 'canary' | 'stable';
  readonly distinctProducts: number;
  /** Name of its root span, by which its client chose a version of the API. */
  readonly root: string;
}

export interface TraceSamplesDeps {
  /** Ids of the newest traces. */
  newest(): Promise<readonly string[]>;
  spans(traceId: string): Promise<readonly TraceSpan[]>;
  /** Compares with the contract. */
  check(order: SampledOrder, signal: AbortSignal): Promise<{ readonly verdict: Verdict; readonly explanation: string }>;
  readonly service: string;
}

/** Reads whether confirmed orders of customers have the trace of their contract. */
export interface TraceGuard {
  read(canary: readonly string[], at: number): GuardReading;
  stop(): void;
}

const EVERY_MS = 5_000;
/** One may have met something that is not the canary's. */
const LEAST_WRONG = 2;
/** Without a look for this long nothing is known, ms. */
const UNREAD_MS = 60_000;

/**
 * One trace of each arm about every 5 s. A repeated call to a service that is in trouble changes the traces of both arms, so
 * that it trips only while those of the stable arm are right.
 */
export function createTraceGuard({ newest, spans, check, service }: TraceSamplesDeps): TraceGuard {
  const ended = new AbortController();
  const seen = new Set<string>();
  const right = { canary: 0, stable: 0 };
  const wrong: { canary: string[]; stable: string[] } = { canary: [], stable: [] };
  /** Of the look before: their spans are there by now. */
  let ids: readonly string[] = [];
  let looking = false;
  let nextAt = 0;
  let lastAt: number | undefined;
  let problem = 'no trace has been read';

  async function lookOnce(canary: readonly string[], at: number): Promise<void> {
    looking = true;
    try {
      const traces = await Promise.all(ids.map(async (id) => ({ id, spans: await spans(id) })));
      const orders = traces.flatMap((trace) => orderIn(trace, service, canary) ?? []);
      ids = await newest();
      for (const arm of ['canary', 'stable'] as const) {
        const order = orders.find((one) => one.arm === arm && !seen.has(one.traceId));
        if (order === undefined) continue;
        seen.add(order.traceId);
        const { verdict, explanation } = await check(order, ended.signal);
        if (verdict === 'pass') right[arm] += 1;
        if (verdict === 'fail') wrong[arm].push(`${order.traceId}: ${explanation}`);
      }
      lastAt = at;
    } catch (error) {
      problem = `traces cannot be read: ${messageOf(error)}`;
    } finally {
      looking = false;
      nextAt = at + EVERY_MS;
    }
  }

  return {
    read(canary, at) {
      // Its preflight was read just now.
      lastAt ??= at;
      if (!looking && at >= nextAt && !ended.signal.aborted) void lookOnce(canary, at);
      const reading = reads('trace-shape', at);
      if (wrong.canary.length >= LEAST_WRONG && wrong.stable.length === 0) {
        const count = `${wrong.canary.length} of ${wrong.canary.length + right.canary} traces are not as their contract`;
        return reading('tripped', `${count}; ${wrong.canary[0]}`);
      }
      if (at - lastAt > UNREAD_MS) return reading('unknown', problem);
      return reading('held', `${right.canary} traces of customers as their contract, after those of the preflight`);
    },
    stop: () => ended.abort(),
  };
}

/** The confirmed order of a trace, where its request has ended and was no tester's. */
function orderIn(
  { id, spans }: { readonly id: string; readonly spans: readonly TraceSpan[] },
  service: string,
  canary: readonly string[],
): SampledOrder | undefined {
  const root = spans.find(({ parentSpanId, kind }) => parentSpanId === undefined && kind === 'server');
  const request = spans.find((span) => span.service === 'orders' && span.name === 'POST /orders');
  const saga = spans.find((span) => span.service === 'orders' && span.name === 'order saga');
  const served = spans.filter((span) => span.service === service && span.kind === 'server');
  if (root === undefined || request === undefined || saga === undefined || saga.error || served.length === 0)
    return undefined;
  const ofCanary = served.filter(({ instance }) => canary.includes(instance)).length;
  // Served by both, it shows neither.
  if (ofCanary > 0 && ofCanary < served.length) return undefined;
  const prices = spans.filter((span) => span.parentSpanId === request.spanId && span.name === 'GET');
  return {
    traceId: id,
    arm: ofCanary > 0 ? 'canary' : 'stable',
    distinctProducts: prices.length,
    root: root.name,
  };
}
