import { TransientError } from '@shop/kit/failures.ts';
import { type CallPolicy, CallUnavailableError } from '@shop/kit/resilience.ts';
import { isDeclined } from './is-declined.ts';

/**
 * Seeded bug `breaker-counts-402`: a declined payment fails its attempt, which the circuit breaker counts. The policy's
 * retry sends nothing: it fails with the same response, which the caller gets in the end.
 */
export function countingDeclined<R>(policy: CallPolicy<R>): CallPolicy<R> {
  return {
    get state() {
      return policy.state;
    },
    async execute(options, attempt) {
      let declined: Awaited<ReturnType<typeof attempt>> | undefined;
      try {
        return await policy.execute(options, async (one) => {
          const response = declined ?? (await attempt(one));
          if (!isDeclined(response)) return response;
          declined = response;
          throw new TransientError('payments: responded 402');
        });
      } catch (error) {
        if (declined === undefined || !(error instanceof CallUnavailableError)) throw error;
        return declined;
      }
    },
    [Symbol.dispose]: () => policy[Symbol.dispose](),
  };
}
