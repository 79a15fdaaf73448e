import { DEADLINE_HEADER, Deadline } from '@shop/kit/deadline.ts';
import type { Failpoint } from '@shop/kit/failpoints.ts';
import { messageOf } from '@shop/kit/failures.ts';
import type { Logger } from '@shop/kit/logger.ts';
import { ProblemError } from '@shop/kit/problems.ts';
import { type CallPolicy, CallUnavailableError, type UnavailableCause } from '@shop/kit/resilience.ts';
import { type BufferedAnswer, ConnectionLostError, type Replicas, type UpstreamRequest } from './replicas.ts';

/** Sends a request whose headers hold its budget. Rejects with ProblemError when orders gave no answer. */
export type Forward = (request: UpstreamRequest) => Promise<BufferedAnswer>;

const UNREACHABLE = ['orders_unreachable', 'the orders service cannot be reached, try again later'] as const;
const TIMEOUT = [
  'orders_timeout',
  'no answer in time; whether an order was taken is not known, repeat the request with the same Idempotency-Key',
] as const;

const LOST = [
  'orders_timeout',
  'the connection to orders broke; whether an order was taken is not known, repeat the request with the same Idempotency-Key',
] as const;

const PROBLEMS = {
  timeout: TIMEOUT,
  no_budget: TIMEOUT,
  failure: UNREACHABLE,
  breaker_open: UNREACHABLE,
  bulkhead_full: ['overloaded', 'there are more requests than can be served, try again later'],
} as const satisfies Record<UnavailableCause, readonly [string, string]>;

/**
 * Any answer of orders, also a problem with status 5xx, is passed on and is no failure of the edge. Failpoints: `G1` before
 * a request is sent on, `G2` after its answer has come and before it is passed on.
 */
export function createForwarder(options: {
  replicas: Replicas;
  policy: CallPolicy;
  budgetMs: number;
  logger: Logger;
  failpoint: Failpoint;
}): Forward {
  const { replicas, policy, budgetMs, logger, failpoint } = options;

  return async (request) => {
    await failpoint('G1');
    const answer = await ask(request);
    await failpoint('G2');
    return answer;
  };

  async function ask(request: UpstreamRequest): Promise<BufferedAnswer> {
    const givenMs = budgetOf(request, budgetMs);
    // A client that wants an answer sooner ends its own call only: were that a failure of the edge, a few such clients
    // would open the breaker for all.
    const impatience = givenMs < budgetMs ? AbortSignal.timeout(givenMs) : undefined;
    try {
      return await policy.execute(
        { deadline: Deadline.after(budgetMs), idempotent: request.method === 'GET' },
        ({ signal }) => sendWithin(request, signal, impatience),
      );
    } catch (error) {
      if (!(error instanceof CallUnavailableError)) throw error;
      // Nothing is recorded by a GET, whatever became of it.
      const isOpen = request.method !== 'GET' && error.cause instanceof ConnectionLostError;
      const [code, detail] = isOpen ? LOST : PROBLEMS[error.reason];
      logger.warn({ code, reason: messageOf(error) }, 'orders gave no answer');
      throw new ProblemError(code, detail, { cause: error });
    }
  }

  async function sendWithin(request: UpstreamRequest, signal: AbortSignal, impatience: AbortSignal | undefined) {
    if (impatience === undefined) return replicas.send(request, signal);
    try {
      return await replicas.send(request, AbortSignal.any([signal, impatience]));
    } catch (error) {
      if (impatience.aborted) throw new ProblemError(...TIMEOUT, { cause: error });
      throw error;
    }
  }
}

function budgetOf({ headers }: UpstreamRequest, budgetMs: number): number {
  const given = (headers as Record<string, string | undefined>)[DEADLINE_HEADER];
  return given === undefined ? budgetMs : Number(given);
}
