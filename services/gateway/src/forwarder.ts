import { DEADLINE_HEADER, Deadline } from '@shop/kit/deadline.ts';
import type { Failpoint } from '@shop/kit/failpoints.ts';
import { ConnectionLostError, messageOf } from '@shop/kit/failures.ts';
import type { HttpReplica } from '@shop/kit/http-replica.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { PROBE_PATH } from '@shop/kit/probe.ts';
import { ProblemError } from '@shop/kit/problems.ts';
import { type CallPolicy, CallUnavailableError, type UnavailableCause } from '@shop/kit/resilience.ts';
import { outcomeOf } from './outcome.ts';
import { toOrdersTarget } from './path.ts';
import { type BufferedResponse, sendTo, type UpstreamRequest } from './replicas.ts';

/** Sends a request whose headers hold its budget. Rejects with ProblemError when orders did not respond. */
export type Forward = (request: UpstreamRequest) => Promise<BufferedResponse>;

/** What the supervisor asks for once a second. */
const PROBE = toOrdersTarget(PROBE_PATH, '/api');

const UNREACHABLE = ['orders_unreachable', 'the orders service cannot be reached, try again later'] as const;
const TIMEOUT = [
  'orders_timeout',
  'no response in time; whether an order was taken is not known, repeat the request with the same Idempotency-Key',
] as const;

const LOST = [
  'orders_timeout',
  'the connection to orders broke; whether an order was taken is not known, repeat the request with the same Idempotency-Key',
] as const;

const PROBLEMS = {
  timeout: TIMEOUT,
  no_budget: ['no_time_left', 'the time that the request was given is over; nothing was sent to orders'],
  failure: UNREACHABLE,
  breaker_open: UNREACHABLE,
  bulkhead_full: ['overloaded', 'there are more requests than can be served, try again later'],
} as const satisfies Record<UnavailableCause, readonly [string, string]>;

/** Any response of orders, also a problem with status 5xx, is passed on and does not count as a failure of the edge. */
export function createForwarder(options: {
  policy: CallPolicy<HttpReplica>;
  budgetMs: number;
  logger: Logger;
  failpoint: Failpoint<'gateway'>;
}): Forward {
  const { policy, budgetMs, logger, failpoint } = options;

  return async (request) => {
    HARNESS: await failpoint('request-received:unforwarded');
    const response = await send(request);
    HARNESS: await failpoint('response-received:unforwarded');
    return response;
  };

  async function send(request: UpstreamRequest): Promise<BufferedResponse> {
    const givenMs = budgetOf(request, budgetMs);
    try {
      return await policy.execute(
        {
          ...(givenMs < budgetMs && { deadline: Deadline.after(givenMs) }),
          idempotent: request.method === 'GET',
          key: keyOf(request),
          isProbe: request.path === PROBE,
          outcomeOf: (response) => outcomeOf(request.method, response),
        },
        ({ signal, replica }) => sendTo(replica, request, signal),
      );
    } catch (error) {
      if (!(error instanceof CallUnavailableError)) throw error;
      // A GET records nothing, whatever its outcome.
      const isOpen = request.method !== 'GET' && error.cause instanceof ConnectionLostError;
      const [code, detail] = isOpen ? LOST : PROBLEMS[error.reason];
      logger.warn({ code, reason: messageOf(error) }, 'orders did not respond');
      throw new ProblemError(code, detail, { cause: error });
    }
  }
}

function budgetOf({ headers }: UpstreamRequest, budgetMs: number): number {
  const given = (headers as Record<string, string | undefined>)[DEADLINE_HEADER];
  return given === undefined ? budgetMs : Number(given);
}

/** An order and its repetitions have one key. */
function keyOf({ headers }: UpstreamRequest): string | undefined {
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? key : undefined;
}
