import { type Static, Type } from 'typebox';
import { services } from '../../topology/services.ts';
import { closed, defaulted, oneOf } from '../../yaml/schema.ts';
import { compactJson } from '../../yaml/share.ts';
import { guards } from './plan.ts';

export const PLAN_VERSION = 'shop.deploy/v1';

/** Services whose callers choose a replica for each request: a share of them can go to a canary. */
export const canaryServices = services
  .map(({ name }) => name)
  .filter((name) => services.some(({ calls }) => calls?.includes(name)));

const duration = (description: string, rest: object = {}) =>
  Type.String({ pattern: '^\\d+(\\.\\d+)?(ms|s|m|h)$', description: `${description}, such as 20s or 2m`, ...rest });

const percentage = (description: string, rest: object = {}) =>
  Type.String({ pattern: '^\\d+(\\.\\d+)?%$', description: `${description}, such as 1%`, ...rest });

const StepSchema = closed(
  {
    weight: Type.Integer({ minimum: 1, maximum: 99, description: 'share of the requests in percent' }),
    requests: Type.Integer({
      minimum: 1,
      description: 'requests of the canary, since the rollout began, before the next step',
    }),
    for: duration('least time of the step'),
  },
  { description: 'weight, requests and for' },
);

const tolerate = (byDefault: number) =>
  defaulted(
    Type.Number({
      minimum: 1,
      maximum: 100,
      default: byDefault,
      description: 'how many times as likely it may be at the canary',
    }),
  );

const Analysis = closed(
  {
    alpha: defaulted(
      Type.Number({
        minimum: 0.0001,
        maximum: 0.1,
        default: 0.01,
        description: 'chance to roll a good release back, over all looks and both tests',
      }),
    ),
    errors: defaulted(closed({ tolerate: tolerate(1) }, { default: {}, description: 'errors' })),
    slow: defaulted(
      closed(
        {
          above: defaulted(oneOf(['p90', 'p95', 'p99'], 'a request is slow above it', { default: 'p90' })),
          tolerate: tolerate(1.25),
          'warm-up': defaulted(
            Type.Integer({
              minimum: 20,
              default: 50,
              description: 'requests of each replica of the canary before slowness counts',
            }),
          ),
        },
        { default: {}, description: 'slowness' },
      ),
    ),
    margin: defaulted(
      percentage('error rate that the canary may have beyond the stable one, to be promoted', { default: '1%' }),
    ),
    guards: defaulted(
      Type.Array(oneOf(guards, 'a guard'), {
        uniqueItems: true,
        default: [...guards],
        description: 'what rolls back immediately',
      }),
    ),
  },
  { default: {}, description: 'how the canary is evaluated' },
);

/** A plan of `shopctl deploy`. */
export const PlanFile = closed(
  {
    version: Type.Literal(PLAN_VERSION),
    service: oneOf(canaryServices, 'the service that is deployed'),
    strategy: Type.Literal('canary'),
    baseline: defaulted(
      oneOf(['fresh', 'running'], 'what the canary is compared with: a stable instance of its age, or those that run', {
        default: 'fresh',
      }),
    ),
    steps: Type.Array(StepSchema, { minItems: 1, description: 'steps of rising weight' }),
    limit: duration('what is not decided by then is inconclusive'),
    analysis: defaulted(Analysis),
  },
  { description: 'a plan' },
);

/** What a file says; other parts of the program take a `CanaryPlan`. */
export type PlanDocument = Static<typeof PlanFile>;

/** The JSON Schema for editors: `deploy/plans/schema.json`, as text. */
export function publishedPlanSchema(): string {
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', title: PLAN_VERSION };
  return `${compactJson({ ...schema, ...JSON.parse(JSON.stringify(PlanFile)) })}\n`;
}
