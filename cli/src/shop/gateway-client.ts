import type { Problem } from '@shop/kit/problems.ts';
import { TRACK_HEADER } from '@shop/kit/wanted-track.ts';
import { CliError, messageOf } from '../errors.ts';
import { traceIdOf } from './orders-table.ts';

export interface OrderRequest {
  readonly customer: string;
  readonly lines: readonly { readonly productId: number; readonly quantity: number }[];
}

/** What the gateway said to `POST /api/orders`. */
export type PlaceResponse =
  | {
      readonly kind: 'decided';
      readonly id: string;
      readonly status: 'Confirmed' | 'Cancelled';
      readonly reason: string | null;
      readonly httpStatus: number;
      readonly traceId: string | null;
      readonly tookMs: number;
    }
  | ProblemResponse;

/** A response of `application/problem+json`. */
export interface ProblemResponse {
  readonly kind: 'problem';
  readonly problem: Problem;
  readonly traceId: string | null;
  /** `Location`: the order whose outcome is not known yet. */
  readonly location: string | null;
  readonly retryAfterS: number | null;
  readonly tookMs: number;
}

/** Longest wait for a response, in ms: the gateway promises one within 10 s under any single fault. */
export const RESPONSE_LIMIT_MS = 12_000;

interface PlaceOptions {
  readonly idempotencyKey?: string | undefined;
  /** The track that is to serve it, whatever its weight is. */
  readonly track?: string | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Speaks to the gateway as any client does. */
export interface GatewayClient {
  /**
   * Places one order. Every response the shop documents is returned; throws CliError when there is none: exit code 124
   * after `timeoutMs`, 4 when nothing listens, 1 when the response is not the shop's.
   */
  placeOrder(request: OrderRequest, options: PlaceOptions): Promise<PlaceResponse>;
}

export function createGatewayClient(baseUrl: string): GatewayClient {
  return {
    async placeOrder(request, { idempotencyKey, track, timeoutMs, signal }) {
      const startedAt = performance.now();
      const limit = AbortSignal.timeout(timeoutMs);
      try {
        const response = await fetch(`${baseUrl}/api/orders`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
            ...(track !== undefined && { [TRACK_HEADER]: track }),
          },
          body: JSON.stringify(request),
          signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
        });
        const text = await response.text();
        return parseResponse(response.status, response.headers, text, performance.now() - startedAt);
      } catch (error) {
        if (error instanceof CliError || signal?.aborted) throw error;
        throw limit.aborted ? noResponse(timeoutMs, idempotencyKey) : unreachable(baseUrl, error);
      }
    },
  };
}

/** Reads a response of the gateway. Throws CliError when it is neither an order nor a problem. */
export function parseResponse(status: number, headers: Headers, text: string, tookMs: number): PlaceResponse {
  const body = parseJson(text);
  const traceId = traceIdOf(headers.get('traceparent'));
  if ((status === 200 || status === 201) && isOrder(body)) {
    const { id, status: decision, reason = null } = body;
    return { kind: 'decided', id, status: decision, reason, httpStatus: status, traceId, tookMs };
  }
  if (isProblem(body)) {
    return {
      kind: 'problem',
      problem: body,
      traceId: body.traceId ?? traceId,
      location: headers.get('location'),
      retryAfterS: headers.has('retry-after') ? Number(headers.get('retry-after')) : null,
      tookMs,
    };
  }
  throw new CliError({
    code: 'foreign_response',
    what: `the gateway's response is not one of the shop's (HTTP ${status})`,
    why: text.slice(0, 200) || 'the body is empty',
    next: 'see whether another program listens on its port: "shopctl port gateway"',
  });
}

function isOrder(body: unknown): body is { id: string; status: 'Confirmed' | 'Cancelled'; reason?: string } {
  const { id, status } = (body ?? {}) as Record<string, unknown>;
  return typeof id === 'string' && (status === 'Confirmed' || status === 'Cancelled');
}

function isProblem(body: unknown): body is Problem {
  const { code, title, detail } = (body ?? {}) as Record<string, unknown>;
  return typeof code === 'string' && typeof title === 'string' && typeof detail === 'string';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Reported by the caller, with the text.
  }
}

function noResponse(timeoutMs: number, idempotencyKey: string | undefined): CliError {
  const key = idempotencyKey === undefined ? '' : ' or repeat the command, whose idempotency key keeps it one order,';
  return new CliError({
    code: 'no_response_in_time',
    what: `the gateway gave no response within ${timeoutMs / 1000} s`,
    why: 'the order may have been taken all the same',
    next: `look for it with "shopctl order list",${key} and see "shopctl status" for who is not ready`,
  });
}

function unreachable(baseUrl: string, error: unknown): CliError {
  const cause = (error as { cause?: unknown }).cause ?? error;
  return new CliError({
    code: 'gateway_unreachable',
    what: `the gateway cannot be reached at ${baseUrl}`,
    why: messageOf(cause),
    next: 'see "shopctl status"; "shopctl start gateway" starts it again',
    cause: error,
  });
}
