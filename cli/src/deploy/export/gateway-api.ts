import type { CanaryPlan } from '../analysis/plan.ts';
import { alwaysMissing, percentOf, secondsOf } from './losses.ts';
import { type Exported, type ExportRequest, HTTP_PORT, type Manifest, NAMESPACE } from './manifest.ts';

/** The route of one step; an operator applies the next one. */
export function gatewayApi(plan: CanaryPlan, { step, ratePerSecond }: ExportRequest): Exported {
  const { service, steps } = plan;
  const share = steps[step - 1]?.share ?? 0;
  return {
    manifests: [meshRoute(service, { canary: percentOf(share), isAskedFor: true })],
    needs: [
      `a mesh that has HTTPRoutes of Services (GAMMA): callers of ${service} are inside the cluster`,
      `the Deployment and Service ${service}-canary, made as deploy/canary makes them`,
    ],
    notExpressed: [
      `all steps but this one: it is ${step} of ${steps.length}, and a person or a program applies the next (--step)`,
      'any analysis: nothing rolls back',
      ...alwaysMissing(plan, ratePerSecond).slice(3),
      ...(plan.baseline === 'fresh' ? ['a baseline of the same age'] : []),
      `the limit of ${secondsOf(plan.limitMs)}`,
    ],
  };
}

/** Calls of a Service, divided between it and its canary. Weights are percent. */
export function meshRoute(
  service: string,
  { canary, isAskedFor = false }: { canary: number; isAskedFor?: boolean },
): Manifest {
  const backend = (name: string, weight: number) => ({ group: '', kind: 'Service', name, port: HTTP_PORT, weight });
  const asked = {
    name: 'asked-for',
    matches: [
      { path: { type: 'PathPrefix', value: '/' }, headers: [{ type: 'Exact', name: 'x-shop-track', value: 'canary' }] },
    ],
    backendRefs: [backend(`${service}-canary`, 1)],
  };
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: service, namespace: NAMESPACE },
    spec: {
      parentRefs: [{ group: '', kind: 'Service', name: service, port: HTTP_PORT }],
      rules: [
        ...(isAskedFor ? [asked] : []),
        {
          name: 'drawn',
          matches: [{ path: { type: 'PathPrefix', value: '/' } }],
          backendRefs: [backend(service, 100 - canary), backend(`${service}-canary`, canary)],
        },
      ],
    },
  };
}
