import { connectPlatform } from '../../platform/connection.ts';
import type { Project } from '../../platform/project.ts';
import { createGatewayClient } from '../../shop/gateway-client.ts';

/** An order this quick met no timeout on its way, so its trace has its shape: the shortest attempt timeout is 1 s. ms. */
const QUICK_MS = 700;
const LIMIT_MS = 60_000;
const ORDER_LIMIT_MS = 12_000;

/**
 * Places orders on a platform that was just started until one is quick. The first ones compile code and fill caches,
 * and on a slow machine meet timeouts, which says nothing about a fault. Gives up after a minute: the steady state
 * shows it.
 */
export async function warmUp(project: Project, signal: AbortSignal): Promise<void> {
  const { gatewayUrl } = await connectPlatform(project);
  const gateway = createGatewayClient(gatewayUrl);
  const request = { customer: 'Warm-up', lines: [{ productId: 1, quantity: 1 }] };
  const deadline = performance.now() + LIMIT_MS;
  while (performance.now() < deadline) {
    signal.throwIfAborted();
    // Without a response it is not quick; why does not matter here.
    const response = await gateway.placeOrder(request, { timeoutMs: ORDER_LIMIT_MS, signal }).catch(() => undefined);
    if (response?.kind === 'decided' && response.status === 'Confirmed' && response.tookMs < QUICK_MS) return;
  }
}
