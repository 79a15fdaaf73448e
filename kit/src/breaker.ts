export type BreakerState = 'closed' | 'half-open' | 'open';

/**
 * Permission for one attempt, which reports its outcome here. An attempt without a conclusive outcome reports nothing, unless
 * it is the trial. Reports of an earlier state are ignored.
 */
export interface Admission {
  /** The single trial call of a half-open breaker. */
  readonly isTrial: boolean;
  /** False once the breaker has left the state in which it admitted this attempt. */
  isCurrent(): boolean;
  /** The edge responded, with any result. */
  responded(): void;
  failed(): void;
}

export interface Breaker {
  readonly state: BreakerState;
  /** Undefined while nothing may be sent: open, or half-open with the trial in flight. Never waits. */
  admit(): Admission | undefined;
  /** Ends the pause of an open breaker: the edge is available again. */
  endPause(): void;
}

export interface BreakerLimits {
  /** Failures that open it, once they have gone on for `breakerFailingMs`. */
  readonly breakerFailures: number;
  readonly breakerFailingMs: number;
  readonly breakerHalfOpenAfterMs: number;
}

/** Failures that one response offsets: the breaker stays closed while at least a fifth of the attempts get a response. */
const SUCCESS_WEIGHT = 4;

/**
 * Opens when an edge keeps failing, and not at a burst of failures, such as all calls in flight on a process that crashes. A cumulative sum of failures, less the responses, has to reach `breakerFailures` and to have been above zero for
 * `breakerFailingMs`. It is capped, so that it returns to zero within a few responses. Source: E. S. Page, "Continuous
 * Inspection Schemes", Biometrika 41, 1954 (CUSUM). `now` is a monotonic clock in ms.
 */
export function createBreaker(
  limits: BreakerLimits,
  changed: (state: BreakerState) => void,
  now: () => number = () => performance.now(),
): Breaker {
  const { breakerFailures, breakerFailingMs, breakerHalfOpenAfterMs } = limits;
  let state: BreakerState = 'closed';
  let sum = 0;
  let failingSince = 0;
  let openedAt = 0;
  /** Identifies one period of a state. */
  let epoch = 0;

  function change(to: BreakerState): void {
    state = to;
    epoch += 1;
    sum = 0;
    if (to === 'open') openedAt = now();
    changed(to);
  }

  function count(change: number): void {
    if (sum === 0) failingSince = now();
    sum = Math.max(0, Math.min(sum + change, 2 * breakerFailures));
  }

  function admission(isTrial: boolean): Admission {
    const admittedIn = epoch;
    const whileCurrent = (work: () => void) => () => {
      if (epoch === admittedIn) work();
    };
    return {
      isTrial,
      isCurrent: () => epoch === admittedIn,
      responded: whileCurrent(() => (isTrial ? change('closed') : count(-SUCCESS_WEIGHT))),
      failed: whileCurrent(() => {
        if (isTrial) return change('open');
        count(1);
        if (sum >= breakerFailures && now() - failingSince >= breakerFailingMs) change('open');
      }),
    };
  }

  return {
    get state() {
      return state;
    },
    admit() {
      if (state === 'closed') return admission(false);
      if (state === 'half-open' || now() - openedAt < breakerHalfOpenAfterMs) return undefined;
      change('half-open');
      return admission(true);
    },
    endPause() {
      openedAt = -Infinity;
    },
  };
}
