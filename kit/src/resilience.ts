import { metrics, ValueType } from '@opentelemetry/api';
import {
  BrokenCircuitError,
  BulkheadRejectedError,
  handleWhen,
  type IBackoff,
  type IBackoffFactory,
  retry,
  TaskCancelledError,
  TimeoutStrategy,
  timeout,
} from 'cockatiel';
import { type AttemptKind, createAttemptMetrics } from './attempt-metrics.ts';
import { type AttemptOutcome, outcomeOfError } from './attempt-outcomes.ts';
import { type Admission, type Breaker, type BreakerState, createBreaker } from './breaker.ts';
import { createBulkhead } from './bulkhead.ts';
import type { Deadline } from './deadline.ts';
import type { EdgeLimits } from './edges.ts';
import { ConnectionLostError, messageOf, NotSentError, OutOfTimeError, TransientError } from './failures.ts';
import type { Logger } from './logger.ts';
import {
  createReplicaPicker,
  type Drawn,
  EJECTION_CAUSES,
  type Placed,
  type Replica,
  type ReplicaPicker,
} from './replica-picker.ts';
import type { Replicas } from './replicas.ts';
import { wantedTrack } from './wanted-track.ts';

/** Why a call got no response. `breaker_open`, `bulkhead_full` and `no_budget` mean that nothing was sent. */
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

/** What an attempt is given: a signal that ends it, its time in ms, its number from 1, and the replica to ask. */
export interface Attempt<R = unknown> {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly number: number;
  readonly replica: R;
}

export interface CallOptions<T = unknown> {
  readonly deadline?: Deadline;
  readonly idempotent: boolean;
  /** What the call belongs to, such as an order. */
  readonly key?: string | undefined;
  /** What a response means for the shop; without it each response is good. */
  readonly outcomeOf?: (response: T) => AttemptOutcome;
  /** It is of no use to customers: not counted in `shop.upstream.attempts`. */
  readonly isProbe?: boolean;
}

export interface CallPolicy<R = unknown> extends Disposable {
  /**
   * Runs `attempt` under the edge's limits and the caller's deadline, where it has one. An attempt that throws
   * TransientError or runs out of the edge's time is retried, at another replica where there is one, when `idempotent`. One
   * that throws NotSentError is repeated immediately at another replica, also when not idempotent, within the same attempt.
   * Any other error is passed on, and counts as a response for breaker and retry. Throws CallUnavailableError
   * when no attempt succeeded. Calls with the same `key` go to replicas of the same track (track-of-key.ts);
   * those of a request that names a track go there (wanted-track.ts).
   */
  execute<T>(options: CallOptions<T>, attempt: (attempt: Attempt<R>) => Promise<T>): Promise<T>;
  readonly state: BreakerState;
}

/** Values of the gauge `shop.breaker.state`. */
const STATE_VALUES = { closed: 0, 'half-open': 1, open: 2 } as const satisfies Record<BreakerState, number>;

/** Not TaskCancelledError: the caller's time is over, which says nothing about the edge. */
const isFailure = (error: unknown) => error instanceof TransientError;

/**
 * One policy per edge, shared by all its calls: total timeout > retry with jitter > breaker > bulkhead > attempt timeout >
 * replica. Queueing counts against the call's time, not the attempt's. Breaker and picker count failures of the edge: failed
 * attempts, and those without a response whose caller could wait for the edge's full timeout. The picker ejects a failing
 * replica, the breaker opens where none is left that responds (decision 0025). All clocks are monotonic. Metrics have the
 * tag `edge`, see docs/metrics.md.
 */
export function createCallPolicy<R extends Replica>(
  edge: string,
  limits: EdgeLimits,
  logger: Logger,
  replicas: Replicas<R>,
): CallPolicy<R> {
  const retries = metrics
    .getMeter('Shop.Resilience')
    .createCounter('shop.call.retries', { description: 'Attempts after the first, by edge' });
  // From the start, so that a reader can distinguish "none yet" from "not reported".
  retries.add(0, { edge });
  const attempts = createAttemptMetrics(edge);
  const breaker = createEdgeBreaker(edge, limits, logger);
  const picker = createEdgePicker(edge, limits, logger, replicas.all, () => breaker.endPause());
  const followed = replicas.follow(() => {
    picker.update(replicas.all);
    // What failed may not be among them any more.
    breaker.endPause();
  });
  const places = createBulkhead(limits.bulkhead, limits.bulkhead);
  const again = retry(handleWhen(isFailure), {
    maxAttempts: limits.attempts - 1,
    backoff: fullJitter(limits.backoffBaseMs, limits.backoffMaxMs),
  });

  return {
    get state() {
      return breaker.state;
    },
    async execute<T>(
      { deadline, idempotent, key, outcomeOf, isProbe = false }: CallOptions<T>,
      attempt: (attempt: Attempt<R>) => Promise<T>,
    ) {
      const totalMs = Math.min(limits.callTimeoutMs, deadline?.remainingMs() ?? Infinity);
      if (totalMs === 0) throw new CallUnavailableError(edge, 'no_budget', false);
      const endsAt = performance.now() + totalMs;
      const tried = new Set<R>();
      // Now: what is queued is continued by the end of another call.
      const wanted = wantedTrack();
      let kind: AttemptKind = wanted === undefined ? attempts.kindOf(key) : 'override';
      let sent = 0;

      async function send(timeoutMs: number, caller?: { readonly signal: AbortSignal; readonly hadEnough: boolean }) {
        let own = undefined as AbortSignal | undefined;
        let asked = undefined as R | undefined;

        /** Counts an attempt that begins now; the first one is drawn, others are for the failure of one before. */
        function counter(drawn: Drawn): (outcome: AttemptOutcome) => void {
          const own = kind;
          const beganAt = performance.now();
          if (kind === 'first') kind = 'repeat';
          return (outcome) => {
            if (!isProbe) attempts.count(own, drawn, outcome, performance.now() - beganAt);
          };
        }

        /** One attempt; moves on to the next replica where nothing was sent to the previous one. */
        async function ask(signal: AbortSignal, number: number) {
          for (;;) {
            const replica = picker.pick(tried, key, wanted);
            const counted = counter(picker.drawn);
            asked = replica;
            const wasTried = tried.has(replica);
            tried.add(replica);
            try {
              const response = await replicas.use(replica, () => attempt({ signal, timeoutMs, number, replica }));
              counted(outcomeOf?.(response) ?? 'ok');
              return response;
            } catch (error) {
              counted(outcomeOfError(error, signal.aborted));
              if (!(error instanceof NotSentError) || signal.aborted) throw error;
              picker.refused(replica);
              const isLast = wanted !== undefined && wasTried;
              if (isLast || replicas.all.every((one) => tried.has(one.replica))) throw error;
            }
          }
        }

        try {
          const result = await within(timeoutMs).execute(({ signal }) => {
            own = signal;
            sent += 1;
            if (sent > 1) retries.add(1, { edge });
            return ask(signal, sent);
          }, caller?.signal);
          picker.responded(asked as R);
          return result;
        } catch (error) {
          const isOver = own?.aborted || error instanceof OutOfTimeError;
          if (isOver && caller?.hadEnough === false) throw new TaskCancelledError();
          const failure = isOver ? new OutOfTimeError(`no response in ${timeoutMs} ms`, { cause: error }) : error;
          if (asked !== undefined) countFailure(picker, asked, failure);
          throw failure;
        }
      }

      function place(admission: Admission, signal: AbortSignal) {
        // The trial has the edge's full timeout, so that its outcome is conclusive whatever its caller's deadline is. It is not
        // queued: sent after its caller has left, it would count as not sent.
        if (admission.isTrial) return send(limits.attemptTimeoutMs);
        return places(() => {
          // Rounded up: the first attempt of a call begins a fraction of a millisecond after it.
          const leftMs = Math.ceil(endsAt - performance.now());
          if (leftMs <= 0 || signal.aborted) throw new TaskCancelledError();
          // The breaker may have opened since this call began to wait.
          if (!admission.isCurrent()) throw new BrokenCircuitError();
          const hadEnough = deadline === undefined || deadline.remainingMs() >= limits.attemptTimeoutMs;
          return send(Math.min(limits.attemptTimeoutMs, leftMs), { signal, hadEnough });
        });
      }

      async function once({ signal }: { readonly signal: AbortSignal }) {
        // The call may have ended in the pause before a retry: nothing would be sent, so the breaker is not asked.
        if (signal.aborted) throw new TaskCancelledError();
        const admission = breaker.admit();
        if (admission === undefined) throw new BrokenCircuitError();
        try {
          const result = await place(admission, signal);
          admission.responded();
          return result;
        } catch (error) {
          if (isFailure(error)) admission.failed();
          else if (!isOwn(error)) admission.responded();
          throw error;
        }
      }

      try {
        return await within(totalMs).execute(({ signal }) =>
          idempotent ? again.execute(once, signal) : once({ signal }),
        );
      } catch (error) {
        throw unavailable(edge, error, sent > 0);
      }
    },
    [Symbol.dispose]() {
      followed[Symbol.dispose]();
      picker[Symbol.dispose]();
    },
  };
}

/** A breaker whose state and changes are logged and measured. */
function createEdgeBreaker(edge: string, limits: EdgeLimits, logger: Logger): Breaker {
  const meter = metrics.getMeter('Shop.Resilience');
  const transitions = meter.createCounter('shop.breaker.transitions', {
    description: 'Changes of a circuit breaker, by edge and by the state it came to',
    valueType: ValueType.INT,
  });
  // From the start, so that a reader can distinguish "none yet" from "not reported".
  for (const to of Object.keys(STATE_VALUES)) transitions.add(0, { edge, to });
  const breaker = createBreaker(limits, (to) => {
    transitions.add(1, { edge, to });
    logger.warn({ edge, breaker: to }, 'the circuit breaker changed state');
  });
  meter
    .createObservableGauge('shop.breaker.state', { description: 'Circuit breaker: 0 closed, 1 half-open, 2 open' })
    .addCallback((result) => result.observe(STATE_VALUES[breaker.state], { edge }));
  return breaker;
}

/** A picker whose ejections are logged and measured; `returned` is called with the return of each replica. */
function createEdgePicker<R extends Replica>(
  edge: string,
  limits: EdgeLimits,
  logger: Logger,
  placed: readonly Placed<R>[],
  returned: () => void,
): ReplicaPicker<R> {
  const meter = metrics.getMeter('Shop.Resilience');
  const ejections = meter.createCounter('shop.replica.ejections', {
    description: 'Replicas excluded from load balancing, by edge and cause',
    valueType: ValueType.INT,
  });
  for (const cause of EJECTION_CAUSES) ejections.add(0, { edge, cause });
  const picker = createReplicaPicker(
    placed,
    { failures: limits.breakerFailures, trialEveryMs: limits.breakerHalfOpenAfterMs },
    {
      ejected({ address }, cause, detail) {
        ejections.add(1, { edge, cause });
        logger.warn({ edge, replica: address, cause, detail }, 'a replica was ejected');
      },
      returned({ address }) {
        logger.info({ edge, replica: address }, 'an ejected replica is used again');
        returned();
      },
    },
  );
  meter
    .createObservableGauge('shop.replicas.ejected', { description: 'Replicas excluded from load balancing now' })
    .addCallback((result) => result.observe(picker.ejected, { edge }));
  return picker;
}

function countFailure<R>(picker: ReplicaPicker<R>, replica: R, failure: unknown): void {
  // Each refused connection has been reported already.
  if (failure instanceof NotSentError) return;
  if (failure instanceof ConnectionLostError) picker.lost(replica);
  if (isFailure(failure)) picker.failed(replica);
  else picker.responded(replica);
}

/** Errors of this policy before an attempt is sent, or when its caller's time is over: not failures of the edge. */
function isOwn(error: unknown): boolean {
  return [TaskCancelledError, BulkheadRejectedError, BrokenCircuitError].some((type) => error instanceof type);
}

/** Aborts the signal when the time is over, and only then: a completed call has nothing left to abort. */
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
