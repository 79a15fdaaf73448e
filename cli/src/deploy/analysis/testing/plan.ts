import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CanaryPlan } from '../plan.ts';
import { readPlan } from '../read-plan.ts';

const file = join(import.meta.dirname, '../../../../../deploy/plans/orders.yaml');
const { plan, problems } = readPlan(readFileSync(file, 'utf8'));
if (plan === undefined) throw new Error(`deploy/plans/orders.yaml: ${JSON.stringify(problems)}`);

/** The plan of the repository. */
export const theDefaultPlan: CanaryPlan = plan;
