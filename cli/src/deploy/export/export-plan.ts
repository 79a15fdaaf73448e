import { CliError } from '../../errors.ts';
import { services } from '../../topology/services.ts';
import type { CanaryPlan } from '../analysis/plan.ts';
import { argoRollouts } from './argo-rollouts.ts';
import { flagger } from './flagger.ts';
import type { ExportFormat } from './formats.ts';
import { gatewayApi } from './gateway-api.ts';
import type { Exported, ExportRequest } from './manifest.ts';

const exporters: Readonly<Record<ExportFormat, (plan: CanaryPlan, request: ExportRequest) => Exported>> = {
  'argo-rollouts': argoRollouts,
  flagger,
  'gateway-api': gatewayApi,
};

/** A plan as manifests for the cluster that `deploy/` makes. Throws CliError (2) where they could not have the effect. */
export function exportPlan(plan: CanaryPlan, format: ExportFormat, request: ExportRequest): Exported {
  const { service, steps } = plan;
  const isHttp = services.some(({ name, protocol }) => name === service && protocol === 'http');
  if (!isHttp) throw notRouted(service);
  if (request.step > steps.length) throw noStep(request.step, steps.length);
  return exporters[format](plan, request);
}

/** Its Service has no address: callers choose the pod. */
function notRouted(service: string): CliError {
  return new CliError({
    code: 'invalid_strategy',
    what: `${service} has no canary on Kubernetes`,
    why: 'its Service is headless and its callers balance gRPC calls over the pods themselves, so no route can divide them',
    next: `deploy it with "kubectl rollout", or use "shopctl deploy ${service}" locally`,
  });
}

function noStep(step: number, count: number): CliError {
  return new CliError({
    code: 'invalid_argument',
    what: `the plan has no step ${step}`,
    next: `use --step 1 to ${count}`,
  });
}
