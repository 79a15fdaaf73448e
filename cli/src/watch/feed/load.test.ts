import { expect, it } from 'vitest';
import type { GatewayClient, PlaceResponse } from '../../shop/gateway-client.ts';
import { runLoad } from './load.ts';

const decided = (status: 'Confirmed' | 'Cancelled'): PlaceResponse => ({
  kind: 'decided',
  id: '3f2b8a1c-5d4e-4f60-9a7b-8c9d0e1f2a3b',
  status,
  reason: null,
  httpStatus: 201,
  traceId: null,
  tookMs: 1,
});

const never = new AbortController().signal;

/** Responses in turn. */
function clientOf(...responses: readonly (() => Promise<PlaceResponse>)[]): GatewayClient {
  let next = 0;
  return { placeOrder: () => (responses[next++ % responses.length] as () => Promise<PlaceResponse>)() };
}

it('places as many orders as the rate and the time say, and counts their responses', async () => {
  const client = clientOf(
    async () => decided('Confirmed'),
    async () => decided('Cancelled'),
  );
  const reported: number[] = [];
  const onProgress = ({ sent }: { sent: number }) => reported.push(sent);
  const end = await runLoad({ client, perSecond: 200, forMs: 100, signal: never, onProgress });
  expect(end).toMatchObject({ sent: 20, confirmed: 10, cancelled: 10, failed: 0 });
  expect(reported[0]).toBe(0);
});

it('sends no more orders once it is ended', async () => {
  const over = new AbortController();
  const client = clientOf(async () => {
    over.abort();
    return decided('Confirmed');
  });
  const end = await runLoad({ client, perSecond: 20, forMs: 60_000, signal: over.signal, onProgress: () => undefined });
  expect(end).toMatchObject({ sent: 1, confirmed: 1 });
});

it('has at most 100 orders in flight: what is due beyond them counts as failed', async () => {
  const response = Promise.withResolvers<PlaceResponse>();
  const client = clientOf(() => response.promise);
  const running = runLoad({
    client,
    perSecond: 2_000,
    forMs: 60,
    signal: never,
    onProgress: () => undefined,
  });
  // The responses come when the load's own time is over.
  setTimeout(() => response.resolve(decided('Confirmed')), 300);
  expect(await running).toMatchObject({ sent: 100, confirmed: 100, failed: 20 });
});
