/** Whether the databases have what the responses said, for all orders of a run. */
import type { AuditReport } from '../../../cli/src/audit/audit.ts';
import { openTarget } from '../../../cli/src/audit/target.ts';
import { readOwnOrders, repeatedKeys, type StoredOrder } from '../../../cli/src/load/history.ts';
import { auditLoad, drain } from '../../../cli/src/load/post-run.ts';
import { connectPlatform } from '../../../cli/src/platform/connection.ts';
import type { Project } from '../../../cli/src/platform/project.ts';
import type { OrderRecord } from '../../../scenarios/lib/record.ts';

/** Events that may wait for the relay at the end of the last load. */
const PEAK_EVENTS = 10_000;

export interface Ledger {
  /** A text: why it could not be audited. */
  readonly report: AuditReport | string;
  /** Orders of the run that the database has. */
  readonly stored: readonly StoredOrder[];
}

/** Waits until what was confirmed is shipped, and audits. `folder` gets the history of the run. */
export async function readLedger(options: {
  readonly project: Project;
  readonly env: NodeJS.ProcessEnv;
  readonly runId: string;
  readonly folder: string;
  readonly orders: readonly OrderRecord[];
  say(line: string): void;
}): Promise<Ledger> {
  const { project, env, runId, folder, orders, say } = options;
  const { signal } = new AbortController();
  const open = async () => openTarget(await connectPlatform(project, env));
  await using target = await open();
  say('waiting until everything is published');
  const endedAt = performance.now();
  await drain(target, { peak: PEAK_EVENTS, endedAt, signal, onLook: () => undefined });
  say('auditing');
  const run = { runId, folder, records: orders, before: undefined };
  const { report } = await auditLoad(open, run, { signal, onProgress: () => undefined });
  return { report, stored: await readOwnOrders(target.databases, runId) };
}

/** Of one service's part of the run. */
export interface Balance {
  /** Orders that a response named, and that the database does not have with its status. */
  readonly lost: readonly string[];
  /** Keys of more than one order, and orders with an effect twice, by the audit. */
  readonly doubled: readonly string[];
}

/** `records` are of some of the orders in the ledger. */
export function balanceOf(records: readonly OrderRecord[], { stored, report }: Ledger): Balance {
  const byId = new Map(stored.map((order) => [order.id, order]));
  const keys = new Set(records.map(({ key }) => key));
  const mine = stored.filter(({ key }) => keys.has(key));
  const ids = new Set(mine.map(({ id }) => id));
  const lost = records
    .filter(({ orderId, status }) => orderId !== undefined && byId.get(orderId)?.status !== status)
    .map(({ orderId }) => orderId as string);
  const violations = typeof report === 'string' ? [] : report.invariants.flatMap((one) => one.violations);
  const twice = violations
    .filter(({ kind, orderId }) => kind === 'duplicated' && orderId !== undefined && ids.has(orderId))
    .map(({ orderId }) => orderId as string);
  return { lost, doubled: [...repeatedKeys(mine), ...new Set(twice)] };
}
