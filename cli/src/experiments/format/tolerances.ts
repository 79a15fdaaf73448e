import { Type } from 'typebox';
import { closed, defaulted, oneOf } from '../../yaml/schema.ts';
import { Bound, DurationBound, duration, NumberBound, Scalar, stepName } from './values.ts';

/** An empty tolerance checks nothing: at least one of its keys is required. */
const CHECKS = { minProperties: 1 };

/** Limits on something that is compared with `bound`. */
function limits<B extends typeof Bound>(bound: B) {
  return {
    gt: Type.Optional({ ...bound, description: 'above this' } as B),
    gte: Type.Optional({ ...bound, description: 'this or above' } as B),
    lt: Type.Optional({ ...bound, description: 'below this' } as B),
    lte: Type.Optional({ ...bound, description: 'this or below' } as B),
    range: Type.Optional(
      Type.Tuple([bound, bound], { description: 'between the first and the second, both included' }),
    ),
  };
}

/** Any value: several keys must all hold. */
export const Comparison = closed(
  {
    eq: Type.Optional(Scalar),
    ne: Type.Optional(Scalar),
    ...limits(Bound),
    in: Type.Optional(Type.Array(Scalar, { minItems: 1, description: 'one of these' })),
    matches: Type.Optional(Type.String({ minLength: 1, description: 'a regular expression that the text matches' })),
  },
  { ...CHECKS, description: 'comparisons that must all hold' },
);

/** A scalar (equals) or comparisons. */
export const ValueTolerance = Type.Union([Scalar, Comparison], {
  description:
    'what the value must be: a scalar (equals it) or comparisons (eq, ne, gt, gte, lt, lte, in, range, matches)',
});

/** Times, in ms once read. */
export const DurationComparison = closed(limits(DurationBound), {
  ...CHECKS,
  description: 'durations: gt, gte, lt, lte, range; with units, or expressions of budgets',
});

export const NumberComparison = closed(
  {
    eq: Type.Optional(NumberBound),
    ne: Type.Optional(NumberBound),
    ...limits(NumberBound),
    in: Type.Optional(Type.Array(NumberBound, { minItems: 1, description: 'one of these' })),
  },
  { ...CHECKS, description: 'comparisons of numbers that must all hold' },
);

/** An exact number or comparisons. */
export const CountTolerance = Type.Union([NumberBound, NumberComparison], {
  description: 'how many: a number (exactly), an expression, or comparisons',
});

const ResponseKind = oneOf(
  ['Confirmed', 'Cancelled', 'problem', 'none'],
  'the response to the client: a decided order, a problem, or none within its deadline',
);

/** What the response to each order must be. */
const EachOrder = closed(
  {
    response: Type.Optional(
      Type.Union(
        [ResponseKind, closed({ in: Type.Array(ResponseKind, { minItems: 1, description: 'one of these' }) })],
        {
          description: 'Confirmed, Cancelled, problem or none; or {in: [...]}',
        },
      ),
    ),
    reason: Type.Optional({ ...ValueTolerance, description: 'reason of a Cancelled order' } as typeof ValueTolerance),
    http: Type.Optional({ ...CountTolerance, description: 'status of the HTTP response' } as typeof CountTolerance),
    code: Type.Optional({
      ...ValueTolerance,
      description: 'code of a problem (docs/errors.md)',
    } as typeof ValueTolerance),
    duration: Type.Optional(DurationComparison),
  },
  { ...CHECKS, description: 'what the response to each order must have been' },
);

const percentiles = {
  p50: 'median response time',
  p95: '95th percentile of response times',
  max: 'slowest response',
} as const;

/** One step, or several whose orders are taken together: before and after a fault, so that a drift counts for neither. */
const BASELINE = Type.Union(
  [stepName('a step'), Type.Array(stepName('a step'), { minItems: 2, maxItems: 4, description: 'steps' })],
  { description: 'the step whose orders were measured for comparison, or a list of them, taken together' },
);

/** What the responses to a step's or a load's orders must have been, together. */
export const OrdersTolerance = closed(
  {
    each: Type.Optional(EachOrder),
    counts: Type.Optional(
      Type.Record(
        Type.String({ pattern: '^(Confirmed|Cancelled(: .+)?|problem|none|[1-5]\\d\\d( [a-z_]+)?)$' }),
        CountTolerance,
        {
          ...CHECKS,
          description:
            'how many had which response: Confirmed, Cancelled, "Cancelled: out of stock", "503 catalog_unavailable", 503, problem, none',
        },
      ),
    ),
    p50: Type.Optional({ ...DurationComparison, description: percentiles.p50 } as typeof DurationComparison),
    p95: Type.Optional({ ...DurationComparison, description: percentiles.p95 } as typeof DurationComparison),
    max: Type.Optional({ ...DurationComparison, description: percentiles.max } as typeof DurationComparison),
    ratio: Type.Optional(
      closed(
        {
          of: BASELINE,
          p50: Type.Optional(NumberComparison),
          p95: Type.Optional(NumberComparison),
          max: Type.Optional(NumberComparison),
        },
        { minProperties: 2, description: 'times as multiples of those of another step' },
      ),
    ),
    added: Type.Optional(
      closed(
        {
          of: BASELINE,
          p50: Type.Optional({ ...DurationComparison, description: percentiles.p50 } as typeof DurationComparison),
          p95: Type.Optional({ ...DurationComparison, description: percentiles.p95 } as typeof DurationComparison),
          max: Type.Optional({ ...DurationComparison, description: percentiles.max } as typeof DurationComparison),
        },
        { minProperties: 2, description: 'how much longer the responses took than those of another step' },
      ),
    ),
    'same-ids-as': Type.Optional(stepName('the step whose orders these must be, one by one')),
    eventually: Type.Optional(
      closed(
        {
          status: oneOf(['Confirmed', 'Cancelled'], 'what the order must become'),
          within: duration('how long that may take, counted from the last response'),
        },
        { description: 'what every one of the orders must become, also those whose response was lost' },
      ),
    ),
  },
  { ...CHECKS, description: 'what the responses to the orders must have been' },
);

const SPAN = 'a span by its name and what else is stated';

/** A span that a trace must have, or must not. */
export const SpanPattern = closed(
  {
    name: Type.String({ minLength: 1, description: 'name of the span' }),
    service: Type.Optional(Type.String({ minLength: 1, description: 'service it is of' })),
    kind: Type.Optional(oneOf(['server', 'client', 'internal', 'producer', 'consumer'], 'kind of the span')),
    error: Type.Optional(Type.Boolean({ description: 'whether its status is an error' })),
    under: Type.Optional(Type.String({ minLength: 1, description: 'name of its parent' })),
    duration: Type.Optional(DurationComparison),
  },
  { description: SPAN },
);

export const TraceTolerance = closed(
  {
    contract: Type.Optional(
      Type.String({ minLength: 1, description: 'the trace is exactly this contract (contracts/traces/<name>.json)' }),
    ),
    without: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        description: 'names of spans of the contract that are not due yet, with all below them',
      }),
    ),
    spans: Type.Optional({ ...CountTolerance, description: 'number of spans' } as typeof CountTolerance),
    services: Type.Optional({ ...CountTolerance, description: 'number of services' } as typeof CountTolerance),
    has: Type.Optional(
      Type.Array(closed({ ...SpanPattern.properties, count: Type.Optional(CountTolerance) }, { description: SPAN }), {
        minItems: 1,
        description: 'spans that must be there (count: how many; default at least one)',
      }),
    ),
    'has-not': Type.Optional(Type.Array(SpanPattern, { minItems: 1, description: 'spans that must not be there' })),
  },
  { ...CHECKS, description: 'what the trace must look like' },
);

export const HttpTolerance = closed(
  {
    status: Type.Optional({ ...CountTolerance, description: 'status of the response' } as typeof CountTolerance),
    json: Type.Optional(
      Type.Record(Type.String({ minLength: 1 }), ValueTolerance, {
        ...CHECKS,
        description: 'values in the response by their path: "dependencies.0.status"',
      }),
    ),
    duration: Type.Optional(DurationComparison),
  },
  { ...CHECKS, description: 'what the response must be' },
);

export const ReadyTolerance = Type.Union(
  [
    Type.Boolean(),
    closed({
      ready: Type.Boolean({ description: 'whether it is ready' }),
      because: Type.Optional(
        Type.String({ minLength: 1, description: 'the dependency it names as down: broker, database, orders' }),
      ),
    }),
  ],
  { description: 'true, false, or {ready: false, because: broker}' },
);

export const LogTolerance = Type.Union(
  [
    NumberBound,
    closed(
      {
        ...NumberComparison.properties,
        traced: Type.Optional(Type.Literal(true, { description: 'each of them has a trace id' })),
      },
      CHECKS,
    ),
  ],
  { description: 'how many log lines: a number (exactly) or comparisons; traced: true when each must have a trace id' },
);

export const SqlTolerance = Type.Union([Scalar, Comparison, closed({ rows: CountTolerance })], {
  description: 'the first row’s only column, or {rows: how many rows}',
});

/** `within` of a fault's own witness. */
export const WitnessRule = defaulted(
  closed(
    { within: duration('how long to look for its effect, once it is injected') },
    { default: { within: '5s' }, description: 'the fault’s own proof that it is in effect' },
  ),
);
