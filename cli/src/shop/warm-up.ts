import { type GatewayClient, RESPONSE_LIMIT_MS } from './gateway-client.ts';

export interface WarmUp {
  /** Of the orders. */
  readonly customer: string;
  /** An order that took less ends it, ms. */
  readonly quickMs: number;
  /** It gives up after so long, or after so many orders: what comes next shows what is wrong. */
  readonly limitMs?: number;
  readonly mostOrders?: number;
}

/**
 * Places orders until one is quick. The first ones after a start compile code, fill caches and make connections, and on a
 * slow machine meet timeouts, which says nothing about a fault or a load. Throws the signal's reason when it aborts.
 */
export async function warmUp(
  gateway: Pick<GatewayClient, 'placeOrder'>,
  { customer, quickMs, limitMs = Number.POSITIVE_INFINITY, mostOrders = Number.POSITIVE_INFINITY }: WarmUp,
  signal: AbortSignal,
): Promise<void> {
  const request = { customer, lines: [{ productId: 1, quantity: 1 }] };
  const deadline = performance.now() + limitMs;
  for (let placed = 0; placed < mostOrders && performance.now() < deadline; placed++) {
    signal.throwIfAborted();
    // Without a response it is not quick; why does not matter here.
    const response = await gateway.placeOrder(request, { timeoutMs: RESPONSE_LIMIT_MS, signal }).catch(() => undefined);
    if (response?.kind === 'decided' && response.status === 'Confirmed' && response.tookMs < quickMs) return;
  }
}
