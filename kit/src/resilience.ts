import { context, metrics, ValueType } from '@opentelemetry/api';
import {
  BrokenCircuitError,
  BulkheadRejectedError,
  bulkhead,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhen,
  type IBackoff,
  type IBackoffFactory,
  retry,
  TaskCancelledError,
  TimeoutStrategy,
  timeout,
} from 'cockatiel';
import type { Deadline } from './deadline.ts';
import type { EdgeLimits } from './edges.ts';
import { messageOf, OutOfTimeError, TransientError } from './failures.ts';
import type { Logger } from './logger.ts';

/** Why a call got no answer. `breaker_open`, `bulkhead_full` and `no_budget` mean that nothing was sent. */
export type UnavailableCause = 'timeout' | 'failure' | 'breaker_open' | 'bulkhead_full' | 'no_budget';

/** A call failed for a reason that may pass; whether it took effect is unknown unless `sent` is false. */
export class CallUnavailableError extends TransientError {
  override readonly name = 'CallUnavailableError';
  readonly edge: string;
  readonly reason: UnavailableCause;
  /** False when no attempt reached the wire. */
  readonly sent: boolean;

  constructor(edge: string, reason: UnavailableCause, sent: boolean, options: { cause?: unknown } = {}) {
    super(`${edge}: ${reason.replaceAll('_', ' ')}${options.cause ? ` (${messageOf(options.cause)})` : ''}`, options);
    this.edge = edge;
    this.reason = reason;
    this.sent = sent;
  }
}

/** What an attempt is given: a signal that ends it, its time in ms, and its number from 1. */
export interface Attempt {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly number: number;
}

export interface CallPolicy {
  /**
   * Runs `attempt` under the edge's limits and the caller's deadline, where it has one. An attempt that throws
   * TransientError or runs out of the edge's time is retried when `idempotent`; anything else it throws is passed on, and
   * counts neither as a failure of the breaker nor as a reason to retry. Throws CallUnavailableError when no attempt
   * succeeded.
   */
  execute<T>(
    options: { deadline?: Deadline; idempotent: boolean },
    attempt: (attempt: Attempt) => Promise<T>,
  ): Promise<T>;
  readonly state: 'closed' | 'half-open' | 'open';
}

const STATES = {
  [CircuitState.Closed]: 'closed',
  [CircuitState.HalfOpen]: 'half-open',
  [CircuitState.Open]: 'open',
  [CircuitState.Isolated]: 'open',
} as const;

/** Values of the gauge `shop.breaker.state`. */
const STATE_VALUES = { closed: 0, 'half-open': 1, open: 2 } as const;

/** TaskCancelledError is none: it says that the caller's time is over, which is no fault of the edge. */
const isFailure = (error: unknown) => error instanceof TransientError;

/**
 * One policy per edge, shared by all its calls: total timeout > retry with jitter > breaker > bulkhead > attempt timeout.
 * Waiting for a place costs the call's time and not the attempt's. The breaker counts what the edge did: an attempt that
 * failed, and one without an answer whose caller had the edge's whole time to wait (decision 0023). Its state, its changes
 * and the retries are metrics (`shop.breaker.state`, `shop.breaker.transitions`, `shop.call.retries`, tag `edge`).
 */
export function createCallPolicy(edge: string, limits: EdgeLimits, logger: Logger): CallPolicy {
  const meter = metrics.getMeter('Shop.Resilience');
  const retries = meter.createCounter('shop.call.retries', { description: 'Attempts after the first, by edge' });
  const breaker = circuitBreaker(handleWhen(isFailure), {
    breaker: new ConsecutiveBreaker(limits.breakerFailures),
    halfOpenAfter: limits.breakerHalfOpenAfterMs,
  });
  const places = bulkhead(limits.bulkhead, limits.bulkhead);
  const state = () => STATES[breaker.state];
  const transitions = meter.createCounter('shop.breaker.transitions', {
    description: 'Changes of a circuit breaker, by edge and by the state it came to',
    valueType: ValueType.INT,
  });
  // From the start, so that a reader tells "none yet" from "not reported".
  for (const to of Object.keys(STATE_VALUES)) transitions.add(0, { edge, to });
  breaker.onStateChange((next) => {
    transitions.add(1, { edge, to: STATES[next] });
    logger.warn({ edge, breaker: STATES[next] }, 'the circuit breaker changed state');
  });
  meter
    .createObservableGauge('shop.breaker.state', { description: 'Circuit breaker: 0 closed, 1 half-open, 2 open' })
    .addCallback((result) => result.observe(STATE_VALUES[state()], { edge }));

  const again = retry(handleWhen(isFailure), {
    maxAttempts: limits.attempts - 1,
    backoff: fullJitter(limits.backoffBaseMs, limits.backoffMaxMs),
  });

  return {
    get state() {
      return state();
    },
    async execute({ deadline, idempotent }, attempt) {
      const totalMs = Math.min(limits.callTimeoutMs, deadline?.remainingMs() ?? Infinity);
      if (totalMs === 0) throw new CallUnavailableError(edge, 'no_budget', false);
      const endsAt = performance.now() + totalMs;
      let sent = 0;

      async function send(timeoutMs: number, caller?: { readonly signal: AbortSignal; readonly hadEnough: boolean }) {
        let own = undefined as AbortSignal | undefined;
        try {
          return await within(timeoutMs).execute(({ signal }) => {
            own = signal;
            sent += 1;
            if (sent > 1) retries.add(1, { edge });
            return attempt({ signal, timeoutMs, number: sent });
          }, caller?.signal);
        } catch (error) {
          const isOver = own?.aborted || error instanceof OutOfTimeError;
          if (!isOver) throw error;
          if (caller?.hadEnough === false) throw new TaskCancelledError();
          throw new OutOfTimeError(`no answer in ${timeoutMs} ms`, { cause: error });
        }
      }

      // A call that waits for a place is started by the one that leaves: bound, it keeps its own trace context.
      const bound = context.bind(context.active(), send);

      function place(signal: AbortSignal) {
        // The one that tries the edge has the edge's own time, so that its end is a verdict, whatever time its caller has.
        // It waits for no place: what is sent after its caller has left would be taken for unsent.
        if (breaker.state === CircuitState.HalfOpen) return send(limits.attemptTimeoutMs);
        return places.execute(() => {
          // Rounded up: the first attempt of a call begins a fraction of a millisecond after it.
          const leftMs = Math.ceil(endsAt - performance.now());
          if (leftMs <= 0) throw new TaskCancelledError();
          const hadEnough = deadline === undefined || deadline.remainingMs() >= limits.attemptTimeoutMs;
          return bound(Math.min(limits.attemptTimeoutMs, leftMs), { signal, hadEnough });
        }, signal);
      }

      function once({ signal }: { readonly signal: AbortSignal }) {
        // The call may have ended in the pause before a retry: nothing would be sent, so the breaker is not asked.
        if (signal.aborted) throw new TaskCancelledError();
        return breaker.execute(() => place(signal), signal);
      }

      try {
        return await within(totalMs).execute(({ signal }) =>
          idempotent ? again.execute(once, signal) : once({ signal }),
        );
      } catch (error) {
        throw unavailable(edge, error, sent > 0);
      }
    },
  };
}

/** Ends the signal of what it runs when the time is over, and only then: an answered call has nothing left to end. */
function within(durationMs: number) {
  return timeout(durationMs, { strategy: TimeoutStrategy.Aggressive, abortOnReturn: false });
}

function unavailable(edge: string, error: unknown, sent: boolean): unknown {
  if (error instanceof BrokenCircuitError) return new CallUnavailableError(edge, 'breaker_open', sent);
  if (error instanceof BulkheadRejectedError) return new CallUnavailableError(edge, 'bulkhead_full', sent);
  if (error instanceof TaskCancelledError || error instanceof OutOfTimeError)
    return new CallUnavailableError(edge, 'timeout', sent);
  if (error instanceof TransientError) return new CallUnavailableError(edge, 'failure', sent, { cause: error });
  return error;
}

/**
 * Delay before retry n in ms: full jitter over an exponential ceiling, 0 <= delay <= maxMs.
 * Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 */
export function backoffMs(retry: number, baseMs: number, maxMs: number, random = Math.random): number {
  if (retry < 1) throw new RangeError(`retry must be 1 or more, got ${retry}`);
  return random() * Math.min(maxMs, baseMs * 2 ** Math.min(retry - 1, 30));
}

function fullJitter(baseMs: number, maxMs: number): IBackoffFactory<unknown> {
  const step = (retry: number): IBackoff<unknown> => ({
    duration: backoffMs(retry, baseMs, maxMs),
    next: () => step(retry + 1),
  });
  return { next: () => step(1) };
}
