import { mixedOrder } from '../../../scenarios/lib/order-mix.ts';
import type { RunClock } from '../shared/clock.ts';
import { type OpenLoop, startOpenLoop } from '../shared/open-loop.ts';
import { RESPONSE_LIMIT_MS } from '../shop/gateway-client.ts';
import type { OrderOutcome } from './order-outcomes.ts';

/** Orders that go on until they are stopped. */
export interface MixedLoad {
  /** Wall clock, ms since 1970. */
  readonly startedAt: number;
  /** Those that have ended so far. */
  readonly outcomes: readonly OrderOutcome[];
  /** Orders sent, and those of them that were sent more than 100 ms after their time. */
  readonly sent: OpenLoop['counts'];
  /** No further ones; resolves when the last has ended. */
  stop(): Promise<void>;
}

export interface MixedLoadOptions {
  readonly gatewayUrl: string;
  /** Orders a second. */
  readonly rate: number;
  readonly seed: number;
  /** Part of the idempotency keys: unique for each load. */
  readonly name: string;
  readonly clock: RunClock;
  /** The body of an order, by its number; absent: those of `shopctl load run mixed`. */
  readonly bodyOf?: (index: number) => string;
}

/** Orders at a rate, whatever becomes of them. */
export function startMixedLoad(options: MixedLoadOptions): MixedLoad {
  const { gatewayUrl, rate, seed, name, clock } = options;
  const bodyOf = options.bodyOf ?? ((index) => mixedOrder(seed, name, index).body);
  const over = new AbortController();
  const outcomes: OrderOutcome[] = [];
  const startedAt = clock.date().getTime();
  const { counts, done } = startOpenLoop({
    clock,
    signal: over.signal,
    gapMs: () => 1_000 / rate,
    send: async (index) => outcomes.push(await send(index)),
  });

  /** Never rejects: no response is an outcome. */
  async function send(index: number): Promise<OrderOutcome> {
    const sentAt = clock.date().getTime();
    const began = clock.now();
    try {
      const response = await fetch(`${gatewayUrl}/api/orders`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': `${name}-${index}` },
        body: bodyOf(index),
        signal: AbortSignal.timeout(RESPONSE_LIMIT_MS),
      });
      const said = orderIn(await response.text());
      return { sentAt, tookMs: clock.now() - began, http: response.status, ...said };
    } catch {
      // Refused, reset or given up: the client has no response.
      return { sentAt, tookMs: clock.now() - began, http: 0 };
    }
  }

  return {
    startedAt,
    outcomes,
    sent: counts,
    async stop() {
      over.abort();
      await done;
    },
  };
}

function orderIn(text: string): Pick<OrderOutcome, 'id' | 'status' | 'reason'> {
  try {
    const { id, status, reason } = JSON.parse(text) as Record<string, unknown>;
    if (typeof id !== 'string' || (status !== 'Confirmed' && status !== 'Cancelled')) return {};
    return { id, status, ...(typeof reason === 'string' && { reason }) };
  } catch {
    return {}; // Not the response of an order.
  }
}
