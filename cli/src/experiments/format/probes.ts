import { Type } from 'typebox';
import { databaseNames } from '../../topology/databases.ts';
import { closed, defaulted, oneOf } from '../../yaml/schema.ts';
import { Scalar, stepName } from './values.ts';

/** Of the audit (shopctl audit). */
export const InvariantId = Type.String({
  pattern: '^I([1-9]|11|13|14|15)$',
  description: 'an invariant of the audit: I1 to I9, I11, I13 to I15',
});

const SINCE = 'counts what was added since then: start (of the run) or the end of a step';

export const HistoryProvider = closed(
  {
    type: Type.Literal('history', { description: 'orders that a load or an earlier step placed' }),
    of: stepName('the step that started the load, or placed the orders'),
    phase: defaulted(
      oneOf(
        ['before', 'fault', 'after', 'all'],
        'orders placed before the first fault, under faults, or after the last',
        {
          default: 'all',
        },
      ),
    ),
  },
  { description: 'history' },
);

export const TraceProvider = closed(
  {
    type: Type.Literal('trace', { description: 'the trace of an order' }),
    of: stepName('the step that placed the order'),
    which: defaulted(
      oneOf(['first', 'last', 'each', 'failed'], 'which of its orders; failed: each that was not Confirmed', {
        default: 'each',
      }),
    ),
  },
  { description: 'trace' },
);

export const MetricProvider = closed(
  {
    type: Type.Literal('metric', { description: 'a metric of the services (docs/metrics.md)' }),
    name: Type.String({ minLength: 1, description: 'name of the instrument' }),
    where: Type.Optional(
      Type.Record(Type.String({ minLength: 1 }), Type.String(), { description: 'series with these attributes only' }),
    ),
    of: defaulted(
      oneOf(['sum', 'max', 'min', 'each'], 'what is taken of several series and instances', { default: 'sum' }),
    ),
    since: Type.Optional(stepName(SINCE)),
  },
  { description: 'metric' },
);

export const SqlProvider = closed(
  {
    type: Type.Literal('sql', { description: 'a query, as an operator who can only read' }),
    database: oneOf(databaseNames, 'database'),
    query: Type.String({ minLength: 1, description: 'a SELECT; values as $1, $2' }),
    values: Type.Optional(Type.Array(Scalar, { description: 'values of $1, $2' })),
  },
  { description: 'sql' },
);

export const HttpProvider = closed(
  {
    type: Type.Literal('http', { description: 'GET, straight to the instance, past the proxies' }),
    service: Type.String({ minLength: 1, description: 'service or instance; gateway too' }),
    path: Type.String({ pattern: '^/', description: 'path and query' }),
  },
  { description: 'http' },
);

export const ReadyProvider = closed(
  {
    type: Type.Literal('ready', { description: 'readiness, as the service itself says' }),
    target: Type.String({ minLength: 1, description: 'all, or a service, an instance or a component' }),
  },
  { description: 'ready' },
);

export const LogProvider = closed(
  {
    type: Type.Literal('log', { description: 'log lines since the run began' }),
    service: Type.String({ minLength: 1, description: 'service or instance' }),
    contains: Type.Optional(Type.String({ minLength: 1, description: 'text in the message' })),
    matches: Type.Optional(Type.String({ minLength: 1, description: 'regular expression for the message' })),
    level: Type.Optional(oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], 'this level only')),
    since: Type.Optional(stepName('lines after the end of this step only')),
  },
  { description: 'log' },
);

export const QueueProvider = closed(
  {
    type: Type.Literal('queue', { description: 'a queue of the broker' }),
    name: Type.String({ minLength: 1, description: 'shipping.order-confirmed or shipping.dead-letters' }),
    field: oneOf(['ready', 'unacked', 'depth', 'consumers'], 'what is counted; depth is ready and unacked'),
  },
  { description: 'queue' },
);

export const ProcessProvider = closed(
  {
    type: Type.Literal('process', { description: 'a process, as the operating system and the supervisor see it' }),
    target: Type.String({ minLength: 1, description: 'instance or component' }),
    field: oneOf(
      ['restarts', 'pid', 'state', 'rss', 'cpu'],
      'rss in bytes, cpu in percent of one core, state a letter',
    ),
    since: Type.Optional(stepName(SINCE)),
  },
  { description: 'process' },
);

export const AlertProvider = closed(
  {
    type: Type.Literal('alert', { description: 'an alert, as the pager of the platform has it (docs/alerts.md)' }),
    name: Type.String({ minLength: 1, description: 'name of an alert: OutboxStalled' }),
    state: oneOf(
      ['firing', 'silent'],
      'firing: also where it is acknowledged, silenced or inhibited; silent: it does not fire, and would arrive if it did',
    ),
  },
  { description: 'alert' },
);

export const AuditProvider = closed(
  {
    type: Type.Literal('audit', { description: 'the ledger, in the middle of a method' }),
    invariants: Type.Array(InvariantId, {
      minItems: 1,
      description: 'which are evaluated',
    }),
    verdict: defaulted(
      oneOf(['pass', 'fail'], 'what the audit must say of each; fail: it must find what was done', {
        default: 'pass',
      }),
    ),
  },
  { description: 'audit' },
);
