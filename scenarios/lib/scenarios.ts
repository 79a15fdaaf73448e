/**
 * The scenarios as data: read by k6, which runs them, and by `shopctl load`, which describes, starts and checks them.
 * No import of k6 here.
 */

/** Chosen for a run of a scenario. */
export interface Settings {
  /** Orders started a second; of a ramp and a spike: at their top. Scenarios that are not paced ignore it. */
  readonly rate: number;
  /** Of the whole scenario, s. */
  readonly durationS: number;
  /** Maximum concurrent users of a phase; an order without a free user is dropped, and counted. */
  readonly vus: number;
  /** Phases before, during and after a fault in the middle third. */
  readonly hasFault: boolean;
}

/** A part of a scenario with its own rate and thresholds. */
export interface Phase {
  readonly name: string;
  readonly startS: number;
  readonly durationS: number;
  /** Orders started a second, regardless of responses (open model); undefined: each user waits for its response. */
  readonly rate: number | undefined;
  readonly vus: number;
  /**
   * `expected`: responses are as expected, and in time. `responded`: each order gets a response, with any result.
   * `nothing`: reported, not checked.
   */
  readonly demands: 'expected' | 'responded' | 'nothing';
}

export interface Scenario {
  readonly name: ScenarioName;
  readonly title: string;
  readonly defaults: Omit<Settings, 'hasFault'>;
  /** Its rate is constant, so that a fault in the middle third can be distinguished from the load. */
  readonly isSteady: boolean;
  /** The shortest with meaningful phases. */
  readonly minDurationS: number;
  /** Requests of one iteration that place an order. */
  readonly requests: number;
  phases(settings: Settings): readonly Phase[];
}

export const scenarioNames = [
  'smoke',
  'steady',
  'ramp',
  'spike',
  'soak',
  'mixed',
  'hot-product',
  'retry-storm',
] as const;

export type ScenarioName = (typeof scenarioNames)[number];

/** Steps of a ramp; the first is the one that must hold. */
const RAMP_STEPS = 10;
/** After a fault breakers are open for up to 5 s and connections are made again: reported, not checked, s. */
const RECOVERY_S = 10;
/** Orders of a spike get a response within 9.5 s of its end; failures may keep a breaker open for 5 s more, s. */
const SPIKE_RECOVERY_S = 15;
/** The shortest with a fault: its recovery alone takes 10 s. */
export const MIN_DURATION_WITH_FAULT_S = 36;

const defaults = { rate: 20, durationS: 60, vus: 200 } as const;

export const scenarios: Readonly<Record<ScenarioName, Scenario>> = {
  smoke: {
    name: 'smoke',
    title: 'a few orders, each read back: does it work at all',
    defaults: { ...defaults, rate: 2, durationS: 10, vus: 20 },
    isSteady: true,
    minDurationS: 5,
    requests: 1,
    phases: steadyPhases,
  },
  steady: {
    name: 'steady',
    title: 'orders at a constant rate, whatever becomes of them',
    defaults,
    isSteady: true,
    minDurationS: 5,
    requests: 1,
    phases: steadyPhases,
  },
  ramp: {
    name: 'ramp',
    title: `the rate rises in ${RAMP_STEPS} steps until the system is saturated; finds the knee`,
    defaults: { rate: 200, durationS: 100, vus: 300 },
    isSteady: false,
    minDurationS: 20,
    requests: 1,
    phases: rampPhases,
  },
  spike: {
    name: 'spike',
    title: 'ten times the rate for a sixth of the time, and whether it is as before afterwards',
    defaults: { rate: 100, durationS: 60, vus: 400 },
    isSteady: false,
    minDurationS: 36,
    requests: 1,
    phases: spikePhases,
  },
  soak: {
    name: 'soak',
    title: 'a moderate rate for ten minutes: does anything grow or leak',
    defaults: { rate: 10, durationS: 600, vus: 100 },
    isSteady: true,
    minDurationS: 5,
    requests: 1,
    phases: steadyPhases,
  },
  mixed: {
    name: 'mixed',
    title: 'confirmed, declined, out of stock and invalid orders side by side, each with its expected response',
    defaults: { ...defaults, rate: 10 },
    isSteady: true,
    minDurationS: 5,
    requests: 1,
    phases: steadyPhases,
  },
  'hot-product': {
    name: 'hot-product',
    title: 'users who wait for their responses, all of one product: contention for one row',
    defaults: { rate: 0, durationS: 30, vus: 16 },
    isSteady: true,
    minDurationS: 5,
    requests: 1,
    phases: closedPhases,
  },
  'retry-storm': {
    name: 'retry-storm',
    title: 'each order is sent three times concurrently with one Idempotency-Key, then once more: one order each',
    defaults: { rate: 5, durationS: 30, vus: 100 },
    isSteady: true,
    minDurationS: 5,
    requests: 4,
    phases: steadyPhases,
  },
};

/** In `whole`, or before, during, and after a fault. */
function steadyPhases(settings: Settings): readonly Phase[] {
  const { rate, durationS, vus, hasFault } = settings;
  if (!hasFault) return [{ name: 'whole', startS: 0, durationS, rate, vus, demands: 'expected' }];
  const third = Math.floor(durationS / 3);
  const after = 2 * third + RECOVERY_S;
  return [
    { name: 'before', startS: 0, durationS: third, rate, vus, demands: 'expected' },
    { name: 'fault', startS: third, durationS: third, rate, vus, demands: 'responded' },
    { name: 'recovery', startS: 2 * third, durationS: RECOVERY_S, rate, vus, demands: 'nothing' },
    { name: 'after', startS: after, durationS: durationS - after, rate, vus, demands: 'expected' },
  ];
}

function closedPhases(settings: Settings): readonly Phase[] {
  return steadyPhases(settings).map((phase) => ({ ...phase, rate: undefined }));
}

/** Steps of whole seconds: where the duration is not a multiple of them, some are a second longer. */
function rampPhases({ rate, durationS, vus }: Settings): readonly Phase[] {
  const startOf = (index: number) => Math.floor((index * durationS) / RAMP_STEPS);
  return Array.from({ length: RAMP_STEPS }, (_, index) => ({
    name: `step-${index + 1}`,
    startS: startOf(index),
    durationS: startOf(index + 1) - startOf(index),
    rate: Math.max(1, Math.round((rate * (index + 1)) / RAMP_STEPS)),
    vus,
    demands: index === 0 ? ('expected' as const) : ('nothing' as const),
  }));
}

function spikePhases({ rate, durationS, vus }: Settings): readonly Phase[] {
  const calm = Math.max(1, Math.round(rate / 10));
  const sixth = Math.max(1, Math.floor(durationS / 6));
  const afterS = 3 * sixth + SPIKE_RECOVERY_S;
  const calmVus = Math.min(vus, calm * 10);
  return [
    { name: 'before', startS: 0, durationS: 2 * sixth, rate: calm, vus: calmVus, demands: 'expected' },
    { name: 'spike', startS: 2 * sixth, durationS: sixth, rate, vus, demands: 'responded' },
    { name: 'recovery', startS: 3 * sixth, durationS: SPIKE_RECOVERY_S, rate: calm, vus: calmVus, demands: 'nothing' },
    {
      name: 'after',
      startS: afterS,
      durationS: Math.max(1, durationS - afterS),
      rate: calm,
      vus: calmVus,
      demands: 'expected',
    },
  ];
}
