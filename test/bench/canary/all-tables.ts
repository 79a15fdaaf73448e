import type { CanaryPlan } from '../../../cli/src/deploy/analysis/plan.ts';
import { failuresTable, requestsTable } from './counts-table.ts';
import { marginTable } from './margin-table.ts';
import { mishapsTable } from './mishaps-table.ts';
import { planTable } from './plan-table.ts';
import { rulesTable } from './rules-table.ts';
import { sharedHarmTable } from './shared-harm-table.ts';
import { sizeTable } from './size-table.ts';
import { slowTable } from './slow-table.ts';
import type { Scale, Table } from './table.ts';

/** Every table of the page, one after another: the same for the same scale. */
export const allTables: readonly ((plan: CanaryPlan, scale: Scale) => Table)[] = [
  (_plan, scale) => rulesTable(scale),
  (_plan, scale) => sizeTable(scale),
  planTable,
  (_plan, scale) => marginTable(scale),
  (_plan, scale) => mishapsTable(scale),
  sharedHarmTable,
  (_plan, scale) => slowTable(scale),
  requestsTable,
  failuresTable,
];
