import { randomUUID } from 'node:crypto';
import { Agent, type Dispatcher, request } from 'undici';

/** The gateway's response, as any client sees it. */
export interface ClientResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body; undefined when it is not JSON. */
  readonly body: Record<string, unknown> | undefined;
  /** Of the `traceparent` response header. */
  readonly traceId: string | undefined;
  readonly tookMs: number;
}

export interface Line {
  readonly productId: number;
  readonly quantity: number;
}

export interface RequestOptions {
  readonly method?: Dispatcher.HttpMethod;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/**
 * Longest wait for a response, in ms: beyond the promise of 10 s, so that a broken promise shows as a time and not as
 * an error.
 */
const TIMEOUT_MS = 15_000;

// Connections are not kept: a test that ends the gateway must not use a closed one of an earlier test.
const dispatcher = new Agent({ pipelining: 0, connections: 128, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });

/** One request, as it is. Rejects when the connection breaks before the response. */
export async function send(url: string, options: RequestOptions = {}): Promise<ClientResponse> {
  const startedAt = performance.now();
  const { method = 'GET', headers = {}, body } = options;
  const response = await request(url, { dispatcher, method, headers, ...(body !== undefined && { body }) });
  const text = await response.body.text();
  const traceParent = response.headers.traceparent;
  return {
    status: response.statusCode,
    headers: response.headers,
    text,
    body: parse(text),
    traceId: typeof traceParent === 'string' ? traceParent.split('-')[1] : undefined,
    tookMs: performance.now() - startedAt,
  };
}

export interface OrderOptions {
  readonly lines?: readonly Line[];
  /** Of `Idempotency-Key`. */
  readonly key?: string;
  /** In place of one made of the lines. */
  readonly body?: string;
}

/** Places an order of one unit of product 1 by default. */
export function place(
  { gatewayUrl }: { readonly gatewayUrl: string },
  options: OrderOptions = {},
): Promise<ClientResponse> {
  const { lines = [{ productId: 1, quantity: 1 }], key } = options;
  // The same key is sent with the same body, so the customer follows from it.
  const customer = `customer ${key ?? randomUUID()}`;
  return send(`${gatewayUrl}/api/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
    body: options.body ?? JSON.stringify({ customer, lines }),
  });
}

/** The order as its own path shows it. */
export function look({ gatewayUrl }: { readonly gatewayUrl: string }, orderId: string): Promise<ClientResponse> {
  return send(`${gatewayUrl}/api/orders/${orderId}`);
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined; // The text is there for a test that expected something else.
  }
}
