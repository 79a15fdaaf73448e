import type { ProblemCode } from '@shop/kit/problems.ts';
import { CliError, type ErrorBody } from '../errors.ts';
import type { ProblemResponse } from './gateway-client.ts';

/** What to do about a problem, where its own detail does not say it. */
const advice: Partial<Readonly<Record<ProblemCode, string>>> = {
  invalid_request: 'correct the fields named above',
  unknown_product: 'products are numbered 1 to 12',
  total_too_large: 'order fewer or cheaper products',
  idempotency_key_reused: 'use another --idempotency-key for another order',
  request_in_progress: 'repeat the command when the first request has ended; "shopctl saga ls" shows what runs',
  orders_unreachable: 'see "shopctl status"; "shopctl start orders" starts it again',
  orders_timeout: 'the order may have been taken: look with "shopctl order list"; then "shopctl status"',
  catalog_unavailable: 'see "shopctl status"; "shopctl start catalog" starts it again',
  database_unavailable: 'see "shopctl status" and "shopctl logs postgres"',
  order_shed: 'an operator sheds a share of the orders: see "shopctl shed"; "shopctl shed 0" ends it',
  overloaded: 'try again later, or with less load',
  order_outcome_pending: 'the order ends without a further request: ask for it again with "shopctl order get"',
};

/** A problem response as the error of a command (exit code 1): code, detail, field errors, trace id, what to do. */
export function problemError(response: ProblemResponse): CliError {
  const { problem, traceId, location, retryAfterS } = response;
  const orderId = location?.split('/').at(-1);
  return new ProblemCliError(response, {
    code: 'service_problem',
    what: `${problem.title} (${problem.code}, HTTP ${problem.status})`,
    why: [
      problem.detail,
      ...(problem.errors ?? []).map(({ pointer, detail }) => `${pointer}: ${detail}`),
      ...(traceId === null ? [] : [`trace ${traceId}`]),
    ].join('\n'),
    next: [
      advice[problem.code],
      ...(orderId === undefined ? [] : [`shopctl explain ${orderId}`]),
      ...(retryAfterS === null ? [] : [`it may work again in ${retryAfterS} s`]),
      ...(traceId === null ? [] : [`shopctl logs --trace ${traceId}`]),
    ]
      .filter((line) => line !== undefined)
      .join('\n'),
  });
}

/** Carries the problem itself into the JSON form of the error. */
class ProblemCliError extends CliError {
  readonly response: ProblemResponse;

  constructor(response: ProblemResponse, details: ConstructorParameters<typeof CliError>[0]) {
    super(details);
    this.response = response;
  }

  override toJSON(): ErrorBody & Pick<ProblemResponse, 'problem' | 'traceId' | 'location' | 'retryAfterS'> {
    const { problem, traceId, location, retryAfterS } = this.response;
    return { ...super.toJSON(), problem, traceId, location, retryAfterS };
  }
}
