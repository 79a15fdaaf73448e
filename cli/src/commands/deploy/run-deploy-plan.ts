import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { planArithmetic } from '../../deploy/analysis/arithmetic.ts';
import { EXAMPLE_PLAN, loadPlan } from '../../deploy/analysis/load-plan.ts';
import { CliError } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import { cloneRoot } from '../../platform/project.ts';
import { renderPlan } from './render-plan.ts';

export interface PlanOptions extends CommonOptions {
  /** Requests a second of the service. */
  readonly rate: number;
  /** Share of them that fail before the rollout. */
  readonly errors: number;
  /** Rollouts that are simulated for each outcome. */
  readonly runs?: number;
  readonly example?: boolean;
}

/** `shopctl deploy plan FILE`: what a plan takes and finds, before anybody waits for it. Exit code 1 where it cannot end in time. */
export async function runDeployPlan(
  file: string | undefined,
  { rate, errors, runs, example }: PlanOptions,
  { output }: CommandDeps,
): Promise<void> {
  if (example) {
    const text = await readFile(join(cloneRoot(), EXAMPLE_PLAN), 'utf8');
    output.result({ file: EXAMPLE_PLAN, text }, () => text.trimEnd());
    return;
  }
  if (file === undefined) throw noFile();
  const plan = await loadPlan(file);
  const arithmetic = planArithmetic(plan, {
    ratePerSecond: rate,
    errorRate: errors,
    ...(runs !== undefined && { runs }),
  });
  output.result({ file, plan, ...arithmetic }, () => renderPlan(file, plan, arithmetic));
  if (arithmetic.refusal !== undefined) process.exitCode = exitCodes.failed;
}

function noFile(): CliError {
  return new CliError({
    code: 'invalid_argument',
    what: 'no plan was named',
    next: `name its file, such as ${EXAMPLE_PLAN}, or print one with --example`,
  });
}
