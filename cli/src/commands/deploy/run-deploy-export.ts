import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { refusalOf } from '../../deploy/analysis/arithmetic.ts';
import { EXAMPLE_PLAN, loadPlan } from '../../deploy/analysis/load-plan.ts';
import { type ExportFormat, exportPlan } from '../../deploy/export/export-plan.ts';
import { writeManifests } from '../../deploy/export/manifest.ts';
import { CliError } from '../../errors.ts';
import { cloneRoot } from '../../platform/project.ts';
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
  const plan = await loadPlan(file ?? planFileOf(service));
  if (plan.service !== service) throw otherService(service, plan.service);
  const refusal = refusalOf(plan, rate);
  if (refusal !== undefined) output.warn(`the plan cannot end within its limit: ${refusal}`);
  const exported = exportPlan(plan, format, { ratePerSecond: rate, step });
  const title = `The plan of ${service} for ${format}, written by "shopctl deploy export".`;
  output.result({ for: format, ...exported }, () => writeManifests(title, exported).trimEnd());
}

function planFileOf(service: string): string {
  const file = join('deploy/plans', `${service}.yaml`);
  if (existsSync(join(cloneRoot(), file))) return join(cloneRoot(), file);
  throw new CliError({
    code: 'invalid_plan',
    what: `there is no plan of ${service}`,
    why: `the clone has no ${file}`,
    next: `name one with --plan; ${EXAMPLE_PLAN} with "service: ${service}" is a beginning`,
  });
}

function otherService(service: string, planned: string): CliError {
  return new CliError({
    code: 'invalid_plan',
    what: `the plan is one of ${planned}, not of ${service}`,
    next: `use "shopctl deploy export ${planned}", or another --plan`,
  });
}
