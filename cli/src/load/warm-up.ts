import type { GatewayClient } from '../shop/gateway-client.ts';

/** An order this quick has found code compiled, caches filled and connections made, ms. */
const QUICK_MS = 300;
const MOST_ORDERS = 5;
const ORDER_LIMIT_MS = 11_000;
const request = { customer: 'Load scenario', lines: [{ productId: 1, quantity: 1 }] };

/**
 * Places a few orders until one is quick: the first ones after a start say nothing about a load. Gives up soon, because a
 * platform may be slow or broken on purpose. Throws the signal's reason when it aborts.
 */
export async function warmUp(gateway: GatewayClient, signal: AbortSignal): Promise<void> {
  for (let placed = 0; placed < MOST_ORDERS; placed++) {
    signal.throwIfAborted();
    // Without a response it is not quick; the load will find out what is wrong.
    const response = await gateway.placeOrder(request, { timeoutMs: ORDER_LIMIT_MS, signal }).catch(() => undefined);
    if (response?.kind === 'decided' && response.status === 'Confirmed' && response.tookMs < QUICK_MS) return;
  }
}
