import { stepsAt } from '../analysis/arithmetic.ts';
import type { CanaryPlan } from '../analysis/plan.ts';
import { meshRoute } from './gateway-api.ts';
import { alwaysMissing, percentOf, secondsOf } from './losses.ts';
import {
  type Exported,
  type ExportRequest,
  HTTP_PORT,
  type Manifest,
  NAMESPACE,
  PROMETHEUS,
  stablePods,
} from './manifest.ts';
import { errorExcess, slowness } from './queries.ts';

const WINDOW = '1m';
const INTERVAL = '30s';
const ASKED_FOR = 'asked-for';

/** A Rollout of the Deployment in `deploy/base`, its AnalysisTemplate, and the route and Service that it moves. */
export function argoRollouts(plan: CanaryPlan, { ratePerSecond }: ExportRequest): Exported {
  const { service } = plan;
  return {
    manifests: [
      rollout(plan, ratePerSecond),
      template(plan),
      canaryService(service),
      meshRoute(service, { canary: 0 }),
    ],
    needs: [
      'Argo Rollouts 1.10 with the traffic router plugin argoproj-labs/gatewayAPI',
      `a mesh that has HTTPRoutes of Services (GAMMA): callers of ${service} are inside the cluster`,
      `what scales the Deployment ${service} to scale the Rollout instead`,
    ],
    notExpressed: [
      ...alwaysMissing(plan, ratePerSecond),
      ...(plan.baseline === 'fresh' ? ['a baseline of the same age: pods that run already are compared with'] : []),
      `the limit of ${secondsOf(plan.limitMs)}: a rollout that is not decided waits for a person`,
    ],
  };
}

function rollout(plan: CanaryPlan, ratePerSecond: number): Manifest {
  const { service } = plan;
  const canary = `${service}-canary`;
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'Rollout',
    metadata: { name: service, namespace: NAMESPACE },
    spec: {
      replicas: 2,
      selector: { matchLabels: stablePods(service) },
      // The pods are those of deploy/base; the Deployment itself is scaled to none once the Rollout serves.
      workloadRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: service, scaleDown: 'progressively' },
      progressDeadlineSeconds: 600,
      progressDeadlineAbort: true,
      strategy: {
        canary: {
          canaryService: canary,
          stableService: service,
          // The stable pods stay as many as they are, so that a rollback starts nothing.
          dynamicStableScale: false,
          scaleDownDelaySeconds: 60,
          trafficRouting: {
            managedRoutes: [{ name: ASKED_FOR }],
            plugins: { 'argoproj-labs/gatewayAPI': { httpRoute: service, namespace: NAMESPACE } },
          },
          analysis: {
            templates: [{ templateName: canary }],
            startingStep: 3,
            args: [
              { name: 'canary-hash', valueFrom: { podTemplateHashValue: 'Latest' } },
              { name: 'stable-hash', valueFrom: { podTemplateHashValue: 'Stable' } },
            ],
          },
          steps: [
            { setCanaryScale: { replicas: 1 } },
            {
              setHeaderRoute: {
                name: ASKED_FOR,
                match: [{ headerName: 'x-shop-track', headerValue: { exact: 'canary' } }],
              },
            },
            ...stepsAt(plan, ratePerSecond).flatMap(({ share, seconds }) => [
              { setWeight: percentOf(share) },
              { pause: { duration: `${Math.ceil(seconds)}s` } },
            ]),
          ],
        },
      },
    },
  };
}

/** A measurement without a value is neither a success nor a failure: the rollout pauses. */
function template(plan: CanaryPlan): Manifest {
  const { service, margin, slow } = plan;
  const arms = { canary: `${service}-{{args.canary-hash}}-.+`, stable: `${service}-{{args.stable-hash}}-.+` };
  const compared = { service, arms, window: WINDOW };
  const metric = (name: string, query: string, limit: number) => ({
    name,
    interval: INTERVAL,
    initialDelay: INTERVAL,
    successCondition: `len(result) > 0 && result[0] <= ${limit}`,
    failureCondition: `len(result) > 0 && result[0] > ${limit}`,
    failureLimit: 2,
    inconclusiveLimit: 2,
    provider: { prometheus: { address: PROMETHEUS, query } },
  });
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'AnalysisTemplate',
    metadata: { name: `${service}-canary`, namespace: NAMESPACE },
    spec: {
      args: [{ name: 'canary-hash' }, { name: 'stable-hash' }],
      metrics: [
        metric('error-excess', errorExcess(compared), margin),
        metric('slowness', slowness(compared, slow.above), slow.tolerate),
      ],
    },
  };
}

/** Argo adds the hash of the release to the selectors of both Services. */
function canaryService(service: string): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: `${service}-canary`, namespace: NAMESPACE },
    spec: {
      selector: stablePods(service),
      ports: [{ name: 'http', port: HTTP_PORT, targetPort: 'http', appProtocol: 'http' }],
    },
  };
}
