import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError, messageOf } from '../../errors.ts';
import { cloneRoot } from '../../platform/project.ts';
import type { CanaryPlan } from './plan.ts';
import { canaryServices } from './plan-schema.ts';
import { readPlan } from './read-plan.ts';

/** Relative to the clone: the plan of a service where no other one is named. */
const defaultPlanOf = (service: string) => `deploy/plans/${service}.yaml`;

/** Relative to the clone: a plan to begin with. */
export const EXAMPLE_PLAN = defaultPlanOf('orders');

/** The plan of a canary of this service: that in the file, or its default. Throws CliError (2). */
export async function loadPlanOf(service: string, file?: string): Promise<CanaryPlan> {
  if (!canaryServices.some((name) => name === service)) {
    throw new CliError({
      code: 'invalid_strategy',
      what: `${service} has no canary`,
      why: `its callers choose no replica: ${canaryServices.join(', ')} have canaries`,
      next: 'use --strategy rolling',
    });
  }
  const path = file ?? join(cloneRoot(), defaultPlanOf(service));
  const plan = await loadPlan(path);
  if (plan.service === service) return plan;
  throw new CliError({
    code: 'invalid_plan',
    what: `${path} is a plan of ${plan.service}, not of ${service}`,
    next: `name a plan whose service is ${service}`,
  });
}

/** The plan in a file. Throws CliError (2) with everything that is wrong with it. */
export async function loadPlan(file: string): Promise<CanaryPlan> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CliError({
      code: 'invalid_plan',
      what: `cannot read the plan ${file}`,
      why: messageOf(cause),
      next: 'name the file of a plan; "shopctl deploy plan --example" prints one',
      cause,
    });
  });
  const { plan, problems } = readPlan(text);
  if (plan !== undefined) return plan;
  const lines = problems.map(
    ({ line, column, path, message }) => `${file}:${line}:${column} ${path === '' ? '' : `${path}: `}${message}`,
  );
  throw new CliError({
    code: 'invalid_plan',
    what: lines.length === 1 ? 'a plan is not valid' : `a plan is not valid: ${lines.length} problems`,
    why: lines.join('\n'),
    next: 'correct the file; docs/canary.md describes the format',
  });
}
