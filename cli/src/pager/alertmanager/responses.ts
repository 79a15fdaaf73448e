import type { GuestResponse } from '../../otlp/guest.ts';

/** No client and no proxy keeps a response. */
const headers = { 'cache-control': 'no-store' };

export function json(body: unknown, status = 200): GuestResponse {
  return { status, body: JSON.stringify(body), contentType: 'application/json', headers };
}

export function empty(status = 200): GuestResponse {
  return { status, body: '', headers };
}

export function text(body: string): GuestResponse {
  return { status: 200, body, contentType: 'text/plain; charset=utf-8', headers };
}

/** A request that is refused, in Alertmanager's words. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly response: GuestResponse;

  constructor(response: GuestResponse) {
    super(response.body);
    this.response = response;
  }
}

/** Found by Alertmanager's handlers: a string. */
export function refused(status: number, message: string): RefusedError {
  return new RefusedError(json(message, status));
}

/** Found by its reading of requests, which its OpenAPI document decides. Source: go-openapi/errors, `api.go` and `schema.go`. */
export function invalid(status: number, code: number, message: string): RefusedError {
  return new RefusedError(json({ code, message }, status));
}

/** 405, with the methods that are there. */
export function notAllowed(method: string, allowed: readonly string[]): GuestResponse {
  const response = json({ code: 405, message: `method ${method} is not allowed, but [${allowed.join(',')}] are` }, 405);
  return { ...response, headers: { ...headers, allow: allowed.join(',') } };
}
