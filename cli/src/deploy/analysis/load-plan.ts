import { readFile } from 'node:fs/promises';
import { CliError, messageOf } from '../../errors.ts';
import type { CanaryPlan } from './plan.ts';
import { readPlan } from './read-plan.ts';

/** Relative to the clone: a plan to begin with. */
export const EXAMPLE_PLAN = 'deploy/plans/orders.yaml';

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
