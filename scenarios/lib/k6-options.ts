import type { Phase } from './scenarios.ts';

/**
 * Limits of a client, ms. The gateway always responds within 9.5 s, and a client waits a little longer. An iteration
 * that is cut off at the end of its phase had time for a response, but not for the client's own limit. So a system that
 * hangs does not delay the run.
 */
export const CLIENT_TIMEOUT_MS = 11_000;
export const GRACEFUL_STOP_MS = 10_000;
const RESPONSE_LIMIT_MS = 10_000;
/** Limits of expected responses: with a constant arrival rate, and with a constant number of users. */
const PACED_LIMITS = ['p(95)<1000', 'p(99)<3000'];
const CLOSED_LIMITS = ['p(95)<2000', 'p(99)<5000'];
/** Share of unexpected responses, and of dropped orders (at least one), that a checked phase tolerates. */
const TOLERATED_SHARE = 0.01;

/** How many of `iterations` of a checked phase may be dropped, or leave no record. */
export function toleratedOf(iterations: number): number {
  return Math.max(1, Math.floor(iterations * TOLERATED_SHARE));
}

/** k6's options of one phase; `constant-arrival-rate` is the open model. */
export type K6Scenario =
  | {
      readonly executor: 'constant-arrival-rate';
      readonly rate: number;
      readonly timeUnit: '1s';
      readonly preAllocatedVUs: number;
      readonly maxVUs: number;
    }
  | { readonly executor: 'constant-vus'; readonly vus: number };

interface Common {
  readonly startTime: string;
  readonly duration: string;
  readonly gracefulStop: string;
  readonly tags: { readonly phase: string };
}

/** Conditions by metric. */
export type Thresholds = Readonly<Record<string, string[]>>;

export interface K6Options {
  readonly scenarios: Record<string, K6Scenario & Common>;
  readonly thresholds: Record<string, string[]>;
  /** Statistics of a distribution in the summary: all that thresholds use. */
  readonly summaryTrendStats: string[];
}

/**
 * One k6 scenario per phase, because k6 applies thresholds to a whole scenario or run. `alsoExpected` are further thresholds
 * of phases whose responses must be as expected: during a fault they may fail.
 */
export function k6Options(
  phases: readonly Phase[],
  requestsPerIteration: number,
  alsoExpected: Thresholds = {},
): K6Options {
  return {
    scenarios: Object.fromEntries(phases.map((phase) => [phase.name, { ...executorOf(phase), ...commonOf(phase) }])),
    thresholds: Object.assign(
      {},
      ...phases.map((phase) => ({
        ...thresholdsOf(phase, requestsPerIteration),
        ...(phase.demands === 'expected' && ofPhase(phase, alsoExpected)),
      })),
    ),
    summaryTrendStats: ['med', 'p(95)', 'p(99)', 'max'],
  };
}

function executorOf({ rate, vus }: Phase): K6Scenario {
  if (rate === undefined) return { executor: 'constant-vus', vus };
  // A start with too few users drops orders, one with too many takes memory: a second of orders, the rest when needed.
  const preAllocatedVUs = Math.min(vus, rate + 5);
  return { executor: 'constant-arrival-rate', rate, timeUnit: '1s', preAllocatedVUs, maxVUs: vus };
}

function commonOf({ name, startS, durationS }: Phase): Common {
  return {
    startTime: `${startS}s`,
    duration: `${durationS}s`,
    gracefulStop: `${GRACEFUL_STOP_MS}ms`,
    tags: { phase: name },
  };
}

function ofPhase({ name }: Phase, thresholds: Thresholds): Thresholds {
  return Object.fromEntries(
    Object.entries(thresholds).map(([metric, conditions]) => [`${metric}{phase:${name}}`, conditions]),
  );
}

function thresholdsOf({ name, demands, rate, durationS }: Phase, requests: number): Record<string, string[]> {
  if (demands === 'nothing') return {};
  const limit = rate === undefined ? undefined : toleratedOf(rate * durationS);
  // What was never started has none of the scenario's own tags, only its name.
  const dropped = limit === undefined ? {} : { [`dropped_iterations{scenario:${name}}`]: [`count<=${limit}`] };
  const responded = {
    [`order_responded{phase:${name}}`]: ['rate==1'],
    [`order_duration{phase:${name}}`]: [`max<${RESPONSE_LIMIT_MS}`],
  };
  if (demands === 'responded') return { ...dropped, ...responded };
  return {
    ...dropped,
    [`order_expected{phase:${name}}`]: [requests > 1 ? 'rate==1' : `rate>=${1 - TOLERATED_SHARE}`],
    [`order_duration{phase:${name}}`]: rate === undefined ? CLOSED_LIMITS : PACED_LIMITS,
  };
}
