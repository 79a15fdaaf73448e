import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { BufferedResponse, UpstreamRequest } from './replicas.ts';

/*
 * Version 2 of the order API in terms of version 1, the only one that orders serves: it suits every release of orders that runs
 * (decision 0105). An amount has its currency beside it, and what a request says beyond version 1 is left out.
 */

interface OrderV1 {
  readonly total: number;
  readonly currency: string;
  readonly lines: readonly { readonly price: number }[];
}

/**
 * The request without fields that version 1 does not have, which orders would refuse. A body that cannot be read so is passed
 * on as it is: orders says what is wrong with it.
 */
export function toVersionOne(request: UpstreamRequest): UpstreamRequest {
  if (!Buffer.isBuffer(request.body) || !isUtf8(request.body)) return request;
  const order = parse(request.body.toString());
  if (!isObject(order)) return request;
  const { lines } = order;
  const known = {
    ...pick(order, ['customer', 'lines']),
    ...(Array.isArray(lines) && { lines: lines.map(knownOfLine) }),
  };
  return withBody(request, known);
}

const knownOfLine = (line: unknown) => (isObject(line) ? pick(line, ['productId', 'quantity']) : line);

/** The response as version 2 has it; problems, and what is not an order, are the same in both. */
export function toVersionTwo(response: BufferedResponse): BufferedResponse {
  const { statusCode, headers, body } = response;
  if (statusCode >= 300 || !isJson(headers)) return response;
  const order = parse(body.toString());
  if (!isObject(order) || !isShown(order)) return response;
  const { total, currency, lines, ...same } = order;
  const translated = {
    ...same,
    total: { amount: total, currency },
    lines: lines.map(({ price, ...line }) => ({ ...line, unitPrice: price })),
  };
  return { ...response, body: Buffer.from(JSON.stringify(translated)) };
}

/** The response to a placed order has no amounts. */
function isShown(order: object): order is OrderV1 {
  return 'total' in order && 'currency' in order && 'lines' in order && Array.isArray(order.lines);
}

function isJson(headers: IncomingHttpHeaders): boolean {
  return headers['content-type']?.startsWith('application/json') === true;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function pick(from: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => Object.hasOwn(from, name)).map((name) => [name, from[name]]));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Orders reports it.
    return undefined;
  }
}

function withBody(request: UpstreamRequest, order: object): UpstreamRequest {
  try {
    const body = Buffer.from(JSON.stringify(order));
    return { ...request, headers: { ...request.headers, 'content-length': String(body.length) }, body };
  } catch {
    // A value that is nested too deeply to be written; orders refuses it for its type.
    return request;
  }
}
