import { type Static, type TSchema, Type } from 'typebox';
import { type ServiceName, serviceNames } from '../../topology/services.ts';
import type { Repeated } from '../../yaml/expected.ts';
import { closed, defaulted } from '../../yaml/schema.ts';
import * as actions from './actions.ts';
import * as events from './events.ts';
import * as probes from './probes.ts';
import { steadyProbes, steadyTitle } from './steady.ts';
import * as tolerances from './tolerances.ts';
import * as values from './values.ts';
import { duration } from './values.ts';

/*
 * The format of experiments. Schemas describe a file; their static types are what a file becomes once it was
 * read: durations in ms, bounds as numbers, defaults filled in (see load.ts).
 */

/** These lists may hold for-each blocks, which are expanded before they are read (for-each.ts). */
const REPEATS_STEPS = { repeats: 'steps' satisfies Repeated };
const REPEATS_EVENTS = { repeats: 'events' satisfies Repeated };

const name = Type.String({ minLength: 1, maxLength: 80, description: 'unique in the file; other steps refer to it' });
const stop = defaulted(Type.Boolean({ default: false, description: 'the method ends here when this did not hold' }));
const background = defaulted(
  Type.Boolean({
    default: false,
    description: 'runs in the background of the next steps; evaluated by a join, or at the end of the method',
  }),
);
const timing = {
  within: Type.Optional(duration('tried until it holds, at most this long')),
  for: Type.Optional(duration('must hold all this time (after its first success, with within)')),
};

function action<P extends TSchema>(provider: P) {
  return closed({ name, type: actionType, provider, stop });
}

function backgroundAction<P extends TSchema>(provider: P) {
  return closed({ name, type: actionType, provider, stop, background });
}

function probe<P extends TSchema, T extends TSchema>(provider: P, tolerance: T) {
  return closed({ name, type: probeType, provider, tolerance, ...timing, stop, background });
}

const actionType = Type.Literal('action', { description: 'does something' });
const probeType = Type.Literal('probe', { description: 'checks whether something holds' });

export const FaultStep = closed({
  name,
  type: actionType,
  provider: actions.FaultProvider,
  ttl: Type.Optional(duration('when the fault expires; default: with the budget of the run')),
  witness: tolerances.WitnessRule,
  stop,
  background,
});
const RevertStep = action(actions.RevertProvider);
const ServiceStep = action(actions.ServiceProvider);
const PublishStep = action(actions.PublishProvider);
const LoadStep = action(actions.LoadProvider);
const StopLoadStep = action(actions.StopLoadProvider);
const JoinStep = action(actions.JoinProvider);
const OrdersStep = backgroundAction(actions.OrdersProvider);

const HoldStep = closed({
  name,
  type: Type.Literal('hold', { description: 'waits, under faults and load' }),
  for: duration('how long'),
});

const OrdersProbe = probe(actions.OrdersProvider, tolerances.OrdersTolerance);
const HistoryProbe = probe(probes.HistoryProvider, tolerances.OrdersTolerance);
const TraceProbe = probe(probes.TraceProvider, tolerances.TraceTolerance);
const MetricProbe = probe(probes.MetricProvider, tolerances.ValueTolerance);
const SqlProbe = probe(probes.SqlProvider, tolerances.SqlTolerance);
const HttpProbe = probe(probes.HttpProvider, tolerances.HttpTolerance);
const ReadyProbe = probe(probes.ReadyProvider, tolerances.ReadyTolerance);
const LogProbe = probe(probes.LogProvider, tolerances.LogTolerance);
const QueueProbe = probe(probes.QueueProvider, tolerances.CountTolerance);
const ProcessProbe = probe(probes.ProcessProvider, tolerances.ValueTolerance);
const AlertProbe = closed({ name, type: probeType, provider: probes.AlertProvider, ...timing, stop, background });
const AuditProbe = closed({ name, type: probeType, provider: probes.AuditProvider, ...timing, stop, background });

/** Waits for an event, or says that it has happened. */
const EventProbe = closed({
  name,
  type: probeType,
  provider: Type.Union(
    events.eventSchemas.map((event) =>
      closed({
        type: Type.Literal('event', { description: 'an event since the run began' }),
        ...event.properties,
      }),
    ),
  ) as unknown as ReturnType<typeof eventProviderType>,
  ...timing,
  stop,
  background,
});

/** The static type of an event's provider: the condition and its `type`. */
function eventProviderType() {
  return Type.Unsafe<{ type: 'event' } & EventCondition>({});
}

/** The only steps of hypothesis and recovery. */
export const Probe = Type.Union(
  [
    OrdersProbe,
    HistoryProbe,
    TraceProbe,
    MetricProbe,
    SqlProbe,
    HttpProbe,
    ReadyProbe,
    LogProbe,
    QueueProbe,
    ProcessProbe,
    AlertProbe,
    AuditProbe,
    EventProbe,
  ],
  { description: 'checks whether something holds' },
);

const ActionStep = Type.Union(
  [FaultStep, RevertStep, ServiceStep, PublishStep, LoadStep, StopLoadStep, JoinStep, OrdersStep],
  { description: 'does something' },
);

export const Step = Type.Union([...ActionStep.anyOf, ...Probe.anyOf, HoldStep], {
  description: 'an action, a probe or a hold',
});

/** Rules for the audit at the end. */
const AuditRules = closed(
  {
    accept: defaulted(
      Type.Record(
        probes.InvariantId,
        Type.Array(Type.Unsafe<'unknown' | 'skipped'>(Type.Enum(['unknown', 'skipped'])), { minItems: 1 }),
        {
          default: {},
          description: 'verdicts of an invariant that do not fail the run: {I11: [unknown]}',
        },
      ),
    ),
    expect: defaulted(
      Type.Record(probes.InvariantId, Type.Literal('fail'), {
        default: {},
        description: 'invariants that must be violated: {I7: fail}',
      }),
    ),
    'dead-letters': defaulted(
      Type.Integer({ minimum: 0, default: 0, description: 'messages expected in the dead letters' }),
    ),
    settle: defaulted(duration('how long in-flight work may take to end before the audit', { default: '60s' })),
  },
  { default: {}, description: 'all: every invariant must hold; or rules' },
);

/** Names that the environment of services may be given. */
const ENV_PATTERN = '^(EDGE_[A-Z_]+|DATABASE_POOL_SIZE|DRAIN_TIMEOUT_MS|LOG_LEVEL)$';

function replicasOf(names: readonly ServiceName[]) {
  const count = Type.Optional(Type.Integer({ minimum: 1, maximum: 9, description: 'how many instances' }));
  const each = closed(Object.fromEntries(names.map((service) => [service, count])), {
    default: {},
    description: 'replicas of services: {orders: 2}',
  });
  return Type.Unsafe<Partial<Record<ServiceName, number>>>(each);
}

const PlatformNeeds = closed(
  {
    failpoints: defaulted(Type.Boolean({ default: false, description: 'services started with failpoints' })),
    replicas: defaulted(replicasOf(serviceNames)),
    env: defaulted(
      Type.Record(Type.String({ pattern: ENV_PATTERN }), Type.String(), {
        default: {},
        description: 'environment of the services: EDGE_..., DATABASE_POOL_SIZE, DRAIN_TIMEOUT_MS, LOG_LEVEL',
      }),
    ),
    'seeded-bugs': defaulted(
      Type.Array(Type.String({ pattern: '^[a-z][a-z0-9-]*$' }), {
        default: [],
        uniqueItems: true,
        description: 'seeded bugs that the services have',
      }),
    ),
    alerts: defaulted(
      Type.Boolean({
        default: false,
        description:
          'with Prometheus, which evaluates alerts; also without this where a step or an event is about an alert',
      }),
    ),
  },
  { default: {}, description: 'what the platform is started with' },
);

const Hypothesis = closed(
  {
    title: defaulted(
      Type.String({ minLength: 1, default: steadyTitle, description: 'what holds without faults, one line' }),
    ),
    probes: defaulted(
      Type.Array(Probe, {
        minItems: 1,
        default: steadyProbes,
        ...REPEATS_STEPS,
        description: 'default: one order Confirmed with the exact trace, drained, all ready',
      }),
    ),
  },
  { default: {}, description: 'must hold before the method, and again after the recovery' },
);

/** A whole file. */
export const Experiment = closed(
  {
    version: Type.Literal('shop.chaos/v1', { description: 'version of the format' }),
    id: Type.String({
      pattern: '^[A-Za-z0-9-]{1,60}$',
      description: 'unique; in the catalog a letter and two digits: E08',
    }),
    title: Type.String({ minLength: 1, maxLength: 120, description: 'one line' }),
    why: Type.String({ minLength: 1, description: 'the rule it tests, and what would go wrong without it' }),
    tags: defaulted(
      Type.Array(Type.String({ pattern: '^[a-z][a-z0-9-]*$' }), {
        default: [],
        uniqueItems: true,
        description: 'words to choose experiments by; fast: part of npm run test:all',
      }),
    ),
    seed: defaulted(
      Type.Integer({
        minimum: 0,
        maximum: 2 ** 32 - 1,
        default: 1,
        description: 'of random choices; --seed overrides it',
      }),
    ),
    platform: defaulted(PlatformNeeds),
    alone: defaulted(
      Type.Boolean({
        default: false,
        description:
          'never runs beside another experiment, because its verdict compares times or needs the whole machine',
      }),
    ),
    configuration: defaulted(
      // `each` is the item of a for-each.
      Type.Record(Type.String({ pattern: '^(?!each$)[A-Za-z][A-Za-z0-9_-]*$' }), values.Scalar, {
        default: {},
        description: 'values by name, for references; not "each"; --set overrides them',
      }),
    ),
    budget: defaulted(
      duration('the run up to its audit; beyond it every fault is reverted and the verdict is unknown', {
        default: '3m',
      }),
    ),
    'steady-state-hypothesis': defaulted(Hypothesis),
    method: Type.Array(Step, { minItems: 1, description: 'steps, one after the other', ...REPEATS_STEPS }),
    recovery: defaulted(
      Type.Array(Probe, { default: [], description: 'probes after every fault is reverted', ...REPEATS_STEPS }),
    ),
    reach: defaulted(
      Type.Array(events.EventCondition, {
        default: [],
        description: 'must have happened during the run',
        ...REPEATS_EVENTS,
      }),
    ),
    never: defaulted(
      Type.Array(events.EventCondition, { default: [], description: 'must not have happened', ...REPEATS_EVENTS }),
    ),
    // `all` is read as rules without exceptions; see load.ts.
    audit: defaulted(AuditRules),
    extensions: defaulted(
      Type.Record(Type.String(), Type.Unknown(), { default: {}, description: 'anything; not read' }),
    ),
  },
  { description: 'An experiment of shopctl chaos (docs/experiments.md)' },
);

/** What the runner takes. */
export type ResolvedExperiment = Static<typeof Experiment>;
export type Step = Static<typeof Step>;
export type Probe = Static<typeof Probe>;
export type ActionStep = Static<typeof ActionStep>;
export type HoldStep = Static<typeof HoldStep>;
export type PlatformNeeds = Static<typeof PlatformNeeds>;
export type AuditRules = Static<typeof AuditRules>;

export type EventCondition = Static<typeof events.EventCondition>;

export type FaultStep = Static<typeof FaultStep>;
export type LoadStep = Static<typeof LoadStep>;
export type OrdersStep = Static<typeof OrdersStep>;
export type OrdersProbe = Static<typeof OrdersProbe>;
export type HistoryProbe = Static<typeof HistoryProbe>;
export type TraceProbe = Static<typeof TraceProbe>;
export type MetricProbe = Static<typeof MetricProbe>;
export type SqlProbe = Static<typeof SqlProbe>;
export type HttpProbe = Static<typeof HttpProbe>;
export type ReadyProbe = Static<typeof ReadyProbe>;
export type LogProbe = Static<typeof LogProbe>;
export type QueueProbe = Static<typeof QueueProbe>;
export type ProcessProbe = Static<typeof ProcessProbe>;
export type AlertProbe = Static<typeof AlertProbe>;
export type AuditProbe = Static<typeof AuditProbe>;
export type EventProbe = Static<typeof EventProbe>;

export type FaultProvider = actions.FaultProvider;
export type RevertProvider = Static<typeof actions.RevertProvider>;
export type ServiceProvider = Static<typeof actions.ServiceProvider>;
export type PublishProvider = Static<typeof actions.PublishProvider>;
export type LoadProvider = Static<typeof actions.LoadProvider>;
export type OrdersProvider = Static<typeof actions.OrdersProvider>;

export type Comparison = Static<typeof tolerances.Comparison>;
/** Of a single value: a scalar (equals it) or comparisons. */
export type Tolerance = Static<typeof tolerances.ValueTolerance>;
export type DurationComparison = Static<typeof tolerances.DurationComparison>;
export type NumberComparison = Static<typeof tolerances.NumberComparison>;
export type CountTolerance = Static<typeof tolerances.CountTolerance>;
export type OrdersTolerance = Static<typeof tolerances.OrdersTolerance>;
export type TraceTolerance = Static<typeof tolerances.TraceTolerance>;
export type SpanPattern = Static<typeof tolerances.SpanPattern>;
