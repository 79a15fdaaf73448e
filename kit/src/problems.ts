/**
 * Every problem a service can respond with, by its stable code (RFC 9457). `retryAfterS` is sent as Retry-After, in seconds.
 * A test keeps this table and the one in docs/errors.md equal.
 */
export const problems = {
  malformed_request: { status: 400, title: 'This is not a valid HTTP request' },
  malformed_json: { status: 400, title: 'The body is not valid JSON' },
  invalid_request: { status: 400, title: 'The request does not fit its schema' },
  order_not_found: { status: 404, title: 'There is no such order' },
  product_not_found: { status: 404, title: 'There is no such product' },
  payment_not_found: { status: 404, title: 'There is no such payment' },
  shipment_not_found: { status: 404, title: 'The order has no shipment' },
  route_not_found: { status: 404, title: 'There is no such route' },
  method_not_allowed: { status: 405, title: 'The route does not know this method' },
  request_timeout: { status: 408, title: 'The request did not arrive in time' },
  request_in_progress: { status: 409, title: 'A request with this idempotency key is still running', retryAfterS: 1 },
  charge_voided: { status: 409, title: 'The charge was voided before it was made' },
  payload_too_large: { status: 413, title: 'The body is larger than 64 KiB' },
  unsupported_media_type: { status: 415, title: 'The body must be application/json' },
  unsupported_content_encoding: { status: 415, title: 'The body must not be encoded' },
  expectation_failed: { status: 417, title: 'The expectation of the request cannot be met' },
  unknown_product: { status: 422, title: 'The order names a product that does not exist' },
  unsupported_currency: {
    status: 422,
    title: 'The order names a product that is not sold in the currency of the shop',
  },
  total_too_large: { status: 422, title: 'The total of the order is too large to be computed exactly' },
  idempotency_key_reused: { status: 422, title: 'The idempotency key was used with another request' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  payment_declined: { status: 402, title: 'The payment was declined' },
  internal_error: { status: 500, title: 'The service failed' },
  orders_unreachable: { status: 503, title: 'The orders service cannot be reached', retryAfterS: 2 },
  catalog_unavailable: { status: 503, title: 'The catalog is unavailable', retryAfterS: 2 },
  database_unavailable: { status: 503, title: 'The database of the service is unavailable', retryAfterS: 2 },
  order_shed: { status: 503, title: 'The shop takes only a part of the new orders', retryAfterS: 30 },
  overloaded: { status: 503, title: 'The service has more requests than it can take', retryAfterS: 1 },
  no_time_left: { status: 504, title: 'The time that the request was given is over' },
  orders_timeout: { status: 504, title: 'The orders service did not respond in time' },
  order_outcome_pending: { status: 504, title: 'The order was taken, its outcome is not known yet' },
} as const satisfies Record<string, { status: number; title: string; retryAfterS?: number }>;

export type ProblemCode = keyof typeof problems;

/** One invalid field: `pointer` is a JSON pointer fragment into the body (RFC 6901), as in RFC 9457's example. */
export interface FieldError {
  readonly pointer: string;
  readonly detail: string;
}

/** A name as a part of a JSON pointer (RFC 6901). */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The body of an `application/problem+json` response (RFC 9457) with our extensions `code`, `traceId`, `errors`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
  readonly traceId?: string;
  readonly errors?: readonly FieldError[];
}

/** Thrown by a handler to respond with a problem. `detail` reaches the client: no SQL, host name or customer in it. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';
  readonly code: ProblemCode;
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ProblemCode,
    detail: string,
    options: { cause?: unknown; errors?: readonly FieldError[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail, { cause: options.cause });
    this.code = code;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
  }
}

/** The wire form of a problem. */
export function toProblem(
  code: ProblemCode,
  detail: string,
  traceId: string | undefined,
  errors?: readonly FieldError[],
): Problem {
  const { status, title } = problems[code];
  return {
    type: `urn:shop:problem:${code}`,
    title,
    status,
    detail,
    code,
    ...(traceId === undefined ? {} : { traceId }),
    ...(errors === undefined ? {} : { errors }),
  };
}
