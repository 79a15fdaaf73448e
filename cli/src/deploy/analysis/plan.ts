/** What rolls a canary back immediately, outside of alpha. */
export const guards = [
  'exit',
  'not-ready',
  'restart',
  'dead-letter',
  'audit',
  'trace-shape',
  'memory',
  'work',
  'total-errors',
] as const;

export type Guard = (typeof guards)[number];

/** What a guard watches, for help and reports. */
export const guardTitles: Readonly<Record<Guard, string>> = {
  exit: 'the canary has not exited',
  'not-ready': 'the canary is ready',
  restart: 'the canary has not restarted',
  'dead-letter': 'none of its events is a dead letter',
  audit: 'its orders have no violation',
  'trace-shape': 'its confirmed orders have the golden trace',
  memory: 'its memory does not grow without end',
  work: 'an order takes it no more than 1.5 times the CPU and statements of the baseline',
  'total-errors': 'both arms together fail no more than before the rollout',
};

/** One step of a rollout: how much the canary is sent, and what must be there before the next. */
export interface Step {
  /** From 0 to 1. */
  readonly share: number;
  /** Requests of the canary since the rollout began. */
  readonly requests: number;
  /** The least time of the step, in ms. */
  readonly forMs: number;
}

/** How a canary is rolled out and evaluated. */
export interface CanaryPlan {
  readonly service: string;
  /** What the canary is compared with: `fresh` is a stable instance of the same age. */
  readonly baseline: 'fresh' | 'running';
  readonly steps: readonly Step[];
  /** What is not decided by then is inconclusive, in ms. */
  readonly limitMs: number;
  /** Chance that a good release is rolled back by an error, over all looks. */
  readonly errors: TestLimits;
  readonly slow: TestLimits & {
    /** Share of stable's requests that are not slow: 0.9. */
    readonly above: number;
    /** Requests of each of its replicas before slowness counts. */
    readonly warmUp: number;
  };
  /** The canary is promoted when its error rate is shown to exceed the stable one by less. */
  readonly margin: number;
  readonly guards: readonly Guard[];
}

export interface TestLimits {
  readonly alpha: number;
  /** How many times as likely an event may be at the canary. */
  readonly tolerate: number;
}

/** How alpha is divided: errors are what a canary is mostly rolled back for. */
const SHARE_OF_ERRORS = 0.8;

export function splitAlpha(alpha: number): { readonly errors: number; readonly slow: number } {
  const errors = Number((alpha * SHARE_OF_ERRORS).toPrecision(12));
  return { errors, slow: Number((alpha - errors).toPrecision(12)) };
}

/** A canary at the margin, or worse, is promoted in at most one rollout of this many. */
export const PROMOTION_EVIDENCE = 20;
