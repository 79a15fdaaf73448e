import { stepsAt } from '../analysis/arithmetic.ts';
import type { CanaryPlan } from '../analysis/plan.ts';
import { alwaysMissing, percentOf, secondsOf } from './losses.ts';
import { type Exported, type ExportRequest, HTTP_PORT, type Manifest, NAMESPACE, PROMETHEUS } from './manifest.ts';
import { errorExcess, slowness } from './queries.ts';

/** Services whose calls can be divided, and which KEDA scales in `deploy/overlays/production`: Flagger has to know. */
const SCALED = ['orders'];

/** A Canary and the two MetricTemplates that it measures by. */
export function flagger(plan: CanaryPlan, { ratePerSecond }: ExportRequest): Exported {
  const { service, slow } = plan;
  const arms = { canary: '{{ target }}-[^-]+-[^-]+', stable: '{{ target }}-primary-.+' };
  const compared = { service, arms, window: '{{ interval }}' };
  const times = stepsAt(plan, ratePerSecond).map(({ seconds }) => seconds);
  const interval = Math.ceil(Math.max(...times));
  return {
    manifests: [
      canary(plan, interval),
      template(`${service}-error-excess`, errorExcess(compared)),
      template(`${service}-slowness`, slowness(compared, slow.above)),
    ],
    needs: [
      'Flagger 1.36 with the provider gatewayapi:v1',
      `a mesh that has HTTPRoutes of Services (GAMMA): callers of ${service} are inside the cluster`,
      `that Flagger may replace the Service ${service} of deploy/base, and no other HTTPRoute of it`,
    ],
    notExpressed: [
      ...alwaysMissing(plan, ratePerSecond),
      `steps of different times: each takes the longest, ${interval} s`,
      'promotion as a relabel: Flagger copies the release to new pods, which were not observed',
      'requests by header during a weighted rollout: x-shop-track has no effect',
      ...(plan.baseline === 'fresh' ? ['a baseline of the same age: the primary is compared with'] : []),
      `the limit of ${secondsOf(plan.limitMs)}: progressDeadlineSeconds is about pods that do not get ready`,
    ],
  };
}

function canary({ service, steps, margin, slow }: CanaryPlan, interval: number): Manifest {
  return {
    apiVersion: 'flagger.app/v1beta1',
    kind: 'Canary',
    metadata: { name: service, namespace: NAMESPACE },
    spec: {
      provider: 'gatewayapi:v1',
      targetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: service },
      ...(SCALED.includes(service) && {
        autoscalerRef: { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name: service },
      }),
      progressDeadlineSeconds: 60,
      service: {
        port: HTTP_PORT,
        portName: 'http',
        targetPort: 'http',
        appProtocol: 'http',
        gatewayRefs: [{ group: 'core', kind: 'Service', name: service, namespace: NAMESPACE, port: HTTP_PORT }],
      },
      analysis: {
        interval: `${interval}s`,
        threshold: 2,
        stepWeights: steps.map(({ share }) => percentOf(share)),
        metrics: [
          measured(`${service}-error-excess`, margin, interval),
          measured(`${service}-slowness`, slow.tolerate, interval),
        ],
      },
    },
  };
}

function measured(name: string, max: number, interval: number) {
  return { name, templateRef: { name, namespace: NAMESPACE }, thresholdRange: { max }, interval: `${interval}s` };
}

function template(name: string, query: string): Manifest {
  return {
    apiVersion: 'flagger.app/v1beta1',
    kind: 'MetricTemplate',
    metadata: { name, namespace: NAMESPACE },
    spec: { provider: { type: 'prometheus', address: PROMETHEUS }, query },
  };
}
