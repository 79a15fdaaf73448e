import { describe, expect, it } from 'vitest';
import { CliError } from '../errors.ts';
import type { GatewayClient, PlaceResponse } from '../shop/gateway-client.ts';
import { runDrainCheck } from './drain-check.ts';

const subject = { service: 'orders', instances: ['orders-3'], track: 'canary' };
const confirmed = { kind: 'decided', status: 'Confirmed' } as PlaceResponse;
const problem = (status: number) =>
  ({ kind: 'problem', problem: { status, code: 'upstream' } }) as unknown as PlaceResponse;
const unreachable = new CliError({ code: 'gateway_unreachable', what: 'the connection was closed' });

/** An instance whose last orders, in flight when it is ended, come to this. */
async function check(last: readonly (PlaceResponse | Error)[]) {
  const ended = Promise.withResolvers<void>();
  const seen = { placed: 0, inFlight: 0, tracks: new Set<unknown>() };
  const gateway: GatewayClient = {
    async placeOrder(_request, { track }) {
      seen.placed += 1;
      seen.tracks.add(track);
      const number = seen.placed - 13;
      if (number < 0) return confirmed;
      await ended.promise;
      const result = last[number] ?? confirmed;
      if (result instanceof Error) throw result;
      return result;
    },
  };
  const end = async () => {
    seen.inFlight = seen.placed - 12;
    ended.resolve();
  };
  const found = await runDrainCheck(subject, end, { gateway, signal: new AbortController().signal });
  return { seen, found };
}

describe('an instance that is tried out', () => {
  it('is ended while it has six orders, of its track alone', async () => {
    const { seen, found } = await check([]);
    expect(seen).toEqual({ placed: 18, inFlight: 6, tracks: new Set(['canary']) });
    expect(found).toBe('orders-3 ended with 6 orders in flight, and lost none');
  });

  it('may lose one, which is reported', async () => {
    const { found } = await check([problem(502)]);
    expect(found).toBe('orders-3 ended with 6 orders in flight, and lost 1');
  });

  it.each([
    ['responses', [problem(502), problem(504)], '502 upstream'],
    ['connections', [unreachable, unreachable, unreachable], 'the connection was closed'],
  ])('that loses %s is not good', async (_title, last, why) => {
    await expect(check(last)).rejects.toMatchObject({
      why: { guard: 'drain', text: `orders-3 ended with 6 orders in flight, and ${last.length} were lost: ${why}` },
    });
  });

  it('may reject orders', async () => {
    await expect(check([problem(422), problem(409)])).resolves.toBeDefined();
  });
});

it('ends with its signal, and says nothing of the release then', async () => {
  const over = new AbortController();
  const gateway: GatewayClient = {
    placeOrder() {
      over.abort(new Error('superseded'));
      return Promise.reject(unreachable);
    },
  };
  const found = runDrainCheck(subject, async () => undefined, { gateway, signal: over.signal });
  await expect(found).rejects.toThrow('superseded');
});
