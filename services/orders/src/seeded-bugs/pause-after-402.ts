import { type CallPolicy, CallUnavailableError } from '@shop/kit/resilience.ts';
import { isDeclined } from './is-declined.ts';

const PAUSE_MS = 2_000;

/** Seeded bug `pause-after-402`: after a declined payment nothing is sent to payments for 2 s, as if it were overloaded. */
export function pausingAfterDeclined<R>(
  policy: CallPolicy<R>,
  now: () => number = () => performance.now(),
): CallPolicy<R> {
  let pausedUntil = Number.NEGATIVE_INFINITY;
  return {
    get state() {
      return policy.state;
    },
    async execute(options, attempt) {
      if (now() < pausedUntil) throw new CallUnavailableError('orders-payments', 'breaker_open', false);
      const response = await policy.execute(options, attempt);
      if (isDeclined(response)) pausedUntil = now() + PAUSE_MS;
      return response;
    },
    [Symbol.dispose]: () => policy[Symbol.dispose](),
  };
}
