import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { refusalOf } from '../../deploy/analysis/arithmetic.ts';
import { loadPlanOf } from '../../deploy/analysis/load-plan.ts';
import { exportPlan } from '../../deploy/export/export-plan.ts';
import type { ExportFormat } from '../../deploy/export/formats.ts';
import { writeManifests } from '../../deploy/export/manifest.ts';
import { unknownService } from '../../platform/unknown-service.ts';
import { serviceNames } from '../../topology/services.ts';

export interface ExportOptions extends CommonOptions {
  readonly for: ExportFormat;
  readonly plan?: string;
  /** Requests of the service a second. */
  readonly rate: number;
  readonly step: number;
}

/** `shopctl deploy export SERVICE --for PROGRAM`: a plan as manifests, with what they cannot say as comments. */
export async function runDeployExport(
  service: string,
  { for: format, plan: file, rate, step }: ExportOptions,
  { output }: CommandDeps,
): Promise<void> {
  if (!(serviceNames as readonly string[]).includes(service)) throw unknownService(service, serviceNames);
  const plan = await loadPlanOf(service, file);
  const refusal = refusalOf(plan, rate);
  if (refusal !== undefined) output.warn(`the plan cannot end within its limit: ${refusal}`);
  const exported = exportPlan(plan, format, { ratePerSecond: rate, step });
  const title = `The plan of ${service} for ${format}, written by "shopctl deploy export".`;
  output.result({ for: format, ...exported }, () => writeManifests(title, exported).trimEnd());
}
