import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../../errors.ts';
import { type GatewayClient, RESPONSE_LIMIT_MS } from '../../shop/gateway-client.ts';
import type { LoadProgress } from '../model/model.ts';

export interface LoadOptions {
  readonly client: GatewayClient;
  readonly perSecond: number;
  readonly forMs: number;
  /** Ends it early; orders in flight are waited for. */
  readonly signal: AbortSignal;
  /** About once a second, and at the end. */
  onProgress(progress: LoadProgress): void;
}

/** More orders than this are not in flight at a time; what is due beyond it counts as failed. */
const MAX_IN_FLIGHT = 100;
const PROGRESS_INTERVAL_MS = 1_000;

/**
 * Places orders of product 1 at a fixed rate, whatever becomes of them, for a limited time. Resolves with what came of
 * it when the last response is there.
 */
export async function runLoad({ client, perSecond, forMs, signal, onProgress }: LoadOptions): Promise<LoadProgress> {
  const began = performance.now();
  const endsAtMs = Date.now() + forMs;
  const counts = { sent: 0, confirmed: 0, cancelled: 0, failed: 0 };
  const inFlight = new Set<Promise<void>>();
  const progress = () => ({ perSecond, endsAtMs, ...counts });

  async function place(): Promise<void> {
    try {
      const response = await client.placeOrder(
        { customer: 'Demo customer', lines: [{ productId: 1, quantity: 1 }] },
        { timeoutMs: RESPONSE_LIMIT_MS },
      );
      if (response.kind === 'problem') counts.failed++;
      else if (response.status === 'Confirmed') counts.confirmed++;
      else counts.cancelled++;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      counts.failed++;
    }
  }

  onProgress(progress());
  const timer = setInterval(() => onProgress(progress()), PROGRESS_INTERVAL_MS);
  for (let due = 0; due < forMs; due += 1000 / perSecond) {
    const waitMs = began + due - performance.now();
    if (waitMs > 0) await delay(waitMs, undefined, { signal }).catch(() => undefined); // Aborted: looked at next.
    if (signal.aborted) break;
    if (inFlight.size >= MAX_IN_FLIGHT) {
      counts.failed++;
      continue;
    }
    counts.sent++;
    const order = place().finally(() => inFlight.delete(order));
    inFlight.add(order);
  }
  clearInterval(timer);
  await Promise.all(inFlight);
  return progress();
}
