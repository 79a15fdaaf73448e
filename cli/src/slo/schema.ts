import { type Static, Type } from 'typebox';
import { closed, defaulted, oneOf } from '../yaml/schema.ts';
import { compactJson } from '../yaml/share.ts';
import { profileNames } from './profiles.ts';
import { WINDOW_PATTERN } from './window.ts';

/*
 * The part of OpenSLO v1 that this project reads (https://github.com/OpenSLO/OpenSLO, v1). A valid file is a valid
 * OpenSLO document; a key that is not here is an error, so that none is silently ignored.
 */

/** Stands for the window in a query of a counter, as in Sloth's plugin for OpenSLO. */
export const WINDOW = '{{.window}}';

const text = (description: string) => Type.String({ minLength: 1, description });
const name = (description: string) => Type.String({ pattern: '^[a-z][a-z0-9-]{0,62}$', description });
const window = (description: string) => Type.String({ pattern: WINDOW_PATTERN, description });

const Metric = closed(
  {
    metricSource: closed(
      {
        type: Type.Literal('Prometheus'),
        spec: closed({ query: text(`PromQL; of a counter a rate per second over [${WINDOW}]`) }),
      },
      { description: 'the source of the numbers' },
    ),
  },
  { description: 'a query' },
);

const Indicator = closed(
  {
    metadata: closed({ name: name('name of the indicator') }),
    spec: closed({
      ratioMetric: closed(
        {
          counter: Type.Boolean({
            description: 'true: queries are rates of counters; false: gauges, whose average over the window counts',
          }),
          good: Type.Optional(Metric),
          bad: Type.Optional(Metric),
          total: Metric,
        },
        { description: 'total, and either good or bad' },
      ),
    }),
  },
  { description: 'what is measured' },
);

const Condition = closed(
  {
    kind: Type.Literal('AlertCondition'),
    metadata: closed({ name: name('becomes the label burn: fast, slow, steady') }),
    spec: closed({
      severity: oneOf(['page', 'ticket'], 'page: someone must act now; ticket: someone must act soon'),
      condition: closed({
        kind: Type.Literal('burnrate'),
        op: Type.Literal('gt'),
        threshold: Type.Number({
          exclusiveMinimum: 0,
          description: 'multiple of the rate at which the budget is spent exactly at the end of the time window',
        }),
        lookbackWindow: window('the long window: the error must be large'),
        alertAfter: window('the short window: the error must go on; the alert ends with it'),
      }),
    }),
  },
  { description: 'a burn rate over two windows' },
);

const AlertPolicy = closed(
  {
    kind: Type.Literal('AlertPolicy'),
    metadata: closed({
      name: Type.String({ pattern: '^[A-Z][A-Za-z0-9]{2,60}$', description: 'name of the alert' }),
      annotations: closed({
        summary: text('what is wrong, in one sentence'),
        impact: text('who notices what'),
      }),
    }),
    spec: closed({ conditions: Type.Array(Condition, { minItems: 1, description: 'burn rates' }) }),
  },
  { description: 'an alert' },
);

/** A document of `dashboards/slos/`. */
export const SloFile = closed(
  {
    apiVersion: Type.Literal('openslo/v1'),
    kind: Type.Literal('SLO'),
    metadata: closed({ name: name('name of the SLO, which is the name of its file'), displayName: text('its title') }),
    spec: closed({
      description: text('what is promised, in one sentence'),
      service: text('the service that keeps it'),
      indicator: Indicator,
      budgetingMethod: oneOf(['Occurrences', 'Timeslices'], 'Occurrences: of requests; Timeslices: of seconds'),
      timeWindow: Type.Array(closed({ duration: window('how long a budget lasts'), isRolling: Type.Literal(true) }), {
        minItems: 1,
        maxItems: 1,
        description: 'one rolling window',
      }),
      objectives: Type.Array(
        closed({
          displayName: defaulted(
            oneOf(['any', ...profileNames], 'the profile that it is for; any: for those without their own', {
              default: 'any',
            }),
          ),
          target: Type.Number({
            exclusiveMinimum: 0,
            description: 'share that must be good, above 0 and below 1: 0.999',
          }),
        }),
        { minItems: 1, description: 'objectives by profile' },
      ),
      alertPolicies: defaulted(Type.Array(AlertPolicy, { default: [], description: 'alerts on burn rates' })),
    }),
  },
  { description: 'an SLO' },
);

/** What a file says; other parts of the program take an `Slo`. */
export type SloDocument = Static<typeof SloFile>;

/** The JSON Schema for editors: `dashboards/slos/schema.json`, as text. */
export function publishedSchema(): string {
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', title: 'OpenSLO v1, as shopctl reads it' };
  return `${compactJson({ ...schema, ...JSON.parse(JSON.stringify(SloFile)) })}\n`;
}
