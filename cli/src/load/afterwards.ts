import { join } from 'node:path';
import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import { type AuditReport, audit } from '../audit/audit.ts';
import type { ByStatus } from '../audit/invariants/metrics.ts';
import type { AuditTarget } from '../audit/target.ts';
import { messageOf } from '../errors.ts';
import { historyLines, readForeignOrders, readOwnOrders, repeatedKeys, writeHistory } from './history.ts';
import { type Drain, readBacklog, untilDrained } from './outbox.ts';

/** Enough for the broker to be found again and for a hundred events a second, and never so long that nobody waits. ms. */
const LEAST_DRAIN_LIMIT_MS = 30_000;
const MOST_DRAIN_LIMIT_MS = 180_000;
const PER_EVENT_MS = 20;
const SETTLE_MS = 15_000;

/** Waits until nothing is under way; a text when it cannot be seen. */
export async function drain(
  { databases }: AuditTarget,
  { peak, endedAt, signal }: { peak: number; endedAt: number; signal: AbortSignal },
): Promise<Drain | string> {
  const limitMs = Math.min(MOST_DRAIN_LIMIT_MS, LEAST_DRAIN_LIMIT_MS + peak * PER_EVENT_MS);
  try {
    return await untilDrained(() => readBacklog(databases), { sinceMs: endedAt, limitMs, signal });
  } catch (error) {
    signal.throwIfAborted();
    return messageOf(error);
  }
}

export interface Audited {
  /** A text: why there is none. */
  readonly report: AuditReport | string;
  readonly repeatedKeys: readonly string[];
}

export interface AuditedRun {
  readonly runId: string;
  readonly folder: string;
  readonly records: readonly OrderRecord[];
  /** What kills before the run kept from being counted. */
  readonly lostBefore: ByStatus | undefined;
}

/**
 * Audits the platform with what this run's clients were told. `open` connects anew: instances and crashes are as of now, not
 * of when the run began. A platform that is away by now makes the audit unknown, not the run an error.
 */
export async function auditLoad(
  open: () => Promise<AuditTarget>,
  { runId, folder, records, lostBefore }: AuditedRun,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (text: string) => void },
): Promise<Audited> {
  const firstAt = records.reduce((least, { at }) => Math.min(least, at), Date.now());
  try {
    await using target = await open();
    const [own, foreign] = await Promise.all([
      readOwnOrders(target.databases, runId),
      readForeignOrders(target.databases, runId, firstAt),
    ]);
    const historyFile = join(folder, 'history.ndjson');
    await writeHistory(historyFile, historyLines(records, own, foreign));
    const report = await audit({ target, settleMs: SETTLE_MS, historyFile, lostBefore, signal, onProgress });
    return { report, repeatedKeys: repeatedKeys(own) };
  } catch (error) {
    signal.throwIfAborted();
    return { report: messageOf(error), repeatedKeys: [] };
  }
}
