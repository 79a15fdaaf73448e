import { describe, expect, it, vi } from 'vitest';
import type { GatewayClient } from './gateway-client.ts';
import { warmUp } from './warm-up.ts';

type Place = GatewayClient['placeOrder'];

/** Takes each of these times, ms; undefined: no response. The last one repeats. */
function gatewayWith(...times: readonly (number | undefined)[]) {
  let placed = 0;
  const placeOrder = vi.fn<Place>(async () => {
    const tookMs = times[Math.min(placed++, times.length - 1)];
    if (tookMs === undefined) throw new Error('no response');
    return { kind: 'decided', status: 'Confirmed', tookMs } as Awaited<ReturnType<Place>>;
  });
  return { placeOrder };
}

const idle = new AbortController().signal;

describe('warming up', () => {
  it('ends with the first quick order', async () => {
    const gateway = gatewayWith(undefined, 900, 100);
    await warmUp(gateway, { customer: 'A', quickMs: 300, mostOrders: 9 }, idle);
    expect(gateway.placeOrder).toHaveBeenCalledTimes(3);
    expect(gateway.placeOrder.mock.calls[0]?.[0]).toEqual({ customer: 'A', lines: [{ productId: 1, quantity: 1 }] });
  });

  it('gives up after so many orders', async () => {
    const gateway = gatewayWith(900);
    await warmUp(gateway, { customer: 'A', quickMs: 300, mostOrders: 5 }, idle);
    expect(gateway.placeOrder).toHaveBeenCalledTimes(5);
  });

  it('gives up after so long', async () => {
    const gateway = gatewayWith(900);
    await warmUp(gateway, { customer: 'A', quickMs: 300, limitMs: 20 }, idle);
    expect(gateway.placeOrder.mock.calls.length).toBeGreaterThan(0);
  });

  it('ends when it is interrupted', async () => {
    const gateway = gatewayWith(900);
    const signal = AbortSignal.abort(new Error('Ctrl-C'));
    await expect(warmUp(gateway, { customer: 'A', quickMs: 300 }, signal)).rejects.toThrow('Ctrl-C');
    expect(gateway.placeOrder).not.toHaveBeenCalled();
  });
});
