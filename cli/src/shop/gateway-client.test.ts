import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createGatewayClient, parseResponse } from './gateway-client.ts';
import { problemError } from './problem-advice.ts';
import { ORDER_ID, TRACE_ID } from './testing/stories.ts';

const traceparent = `00-${TRACE_ID}-1111111111111111-01`;
const request = { customer: 'Demo customer', lines: [{ productId: 1, quantity: 1 }] };

describe('a response of the gateway', () => {
  it('is an order with the trace id of its header', () => {
    const body = JSON.stringify({ id: ORDER_ID, status: 'Cancelled', reason: 'payment declined' });
    expect(parseResponse(200, new Headers({ traceparent }), body, 12)).toEqual({
      kind: 'decided',
      id: ORDER_ID,
      status: 'Cancelled',
      reason: 'payment declined',
      httpStatus: 200,
      traceId: TRACE_ID,
      tookMs: 12,
    });
  });

  it('is a problem, reported with code, detail, fields, trace and what to do next', () => {
    const problem = {
      type: 'urn:shop:problem:order_outcome_pending',
      title: 'The order was taken, its outcome is not known yet',
      status: 504,
      detail: 'ask for the order again',
      code: 'order_outcome_pending',
      traceId: TRACE_ID,
      errors: [{ pointer: '#/lines/0/quantity', detail: 'must be at least 1' }],
    };
    const headers = new Headers({ location: `/api/orders/${ORDER_ID}`, 'retry-after': '2' });
    const response = parseResponse(504, headers, JSON.stringify(problem), 9);
    if (response.kind !== 'problem') throw new Error('expected a problem');
    const error = problemError(response);
    expect(error.exitCode).toBe(1);
    expect(error.what).toContain('order_outcome_pending, HTTP 504');
    expect(error.why?.split('\n')).toEqual([
      'ask for the order again',
      '#/lines/0/quantity: must be at least 1',
      `trace ${TRACE_ID}`,
    ]);
    expect(error.next).toContain(`shopctl explain ${ORDER_ID}`);
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ problem, retryAfterS: 2 });
  });

  it.each(['<html>hello</html>', '', '{"ok":true}', '[]', 'null'])(
    'is refused when it is not the shop’s: %j',
    (text) => {
      expect(() => parseResponse(200, new Headers(), text, 1)).toThrow('not one of the shop');
    },
  );
});

describe('the gateway client', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.close();
    server?.closeAllConnections();
  });

  async function serve(listener: Parameters<typeof createServer>[1]): Promise<string> {
    const started = createServer(listener as never);
    server = started;
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
  }

  it('sends the order and its idempotency key', async () => {
    const seen: unknown[] = [];
    const url = await serve(async (incoming, response) => {
      const body = (await incoming.toArray()).join('');
      seen.push(incoming.method, incoming.url, incoming.headers['idempotency-key'], JSON.parse(body));
      response.writeHead(201, { traceparent }).end(JSON.stringify({ id: ORDER_ID, status: 'Confirmed' }));
    });
    const response = await createGatewayClient(url).placeOrder(request, { idempotencyKey: 'k1', timeoutMs: 5_000 });
    expect(seen).toEqual(['POST', '/api/orders', 'k1', request]);
    expect(response).toMatchObject({ kind: 'decided', status: 'Confirmed', reason: null });
  });

  it('ends with 124 when there is no response in time', async () => {
    const url = await serve(() => undefined);
    const placing = createGatewayClient(url).placeOrder(request, { timeoutMs: 50 });
    await expect(placing).rejects.toMatchObject({
      code: 'no_response_in_time',
      why: 'the order may have been taken all the same',
    });
  });

  it('ends with 4 when nothing listens', async () => {
    const url = await serve(() => undefined);
    server?.close();
    await expect(createGatewayClient(url).placeOrder(request, { timeoutMs: 5_000 })).rejects.toMatchObject({
      code: 'gateway_unreachable',
      why: expect.stringContaining('ECONNREFUSED'),
    });
  });
});
