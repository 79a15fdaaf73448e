import { join } from 'node:path';
import type { OrderRecord } from '../../../scenarios/lib/record.ts';
import { type AuditReport, audit } from '../audit/audit.ts';
import { type Baseline, sinceBaseline } from '../audit/baseline.ts';
import { type InvariantResult, verdictOf } from '../audit/invariant.ts';
import type { AuditTarget } from '../audit/target.ts';
import { messageOf } from '../errors.ts';
import { formatCount } from '../output/units.ts';
import { worst } from '../shared/verdict.ts';
import {
  historyLines,
  readOwnOrders,
  repeatedKeys,
  type SagaOutcomes,
  sagaOutcomes,
  unexpectedOrderIds,
  writeHistory,
} from './history.ts';
import { type Backlog, type Drain, readBacklog, untilDrained } from './outbox.ts';

/** Enough for reconnecting to the broker and for a hundred events a second, and never longer than a user waits. ms. */
const MIN_DRAIN_TIMEOUT_MS = 30_000;
const MAX_DRAIN_TIMEOUT_MS = 180_000;
const PER_EVENT_MS = 20;
const SETTLE_MS = 15_000;

/** Waits until nothing is in flight; a text when that cannot be measured. */
export async function drain(
  { databases }: AuditTarget,
  {
    peak,
    endedAt,
    signal,
    onLook,
  }: { peak: number; endedAt: number; signal: AbortSignal; onLook: (look: Backlog) => void },
): Promise<Drain | string> {
  const limitMs = Math.min(MAX_DRAIN_TIMEOUT_MS, MIN_DRAIN_TIMEOUT_MS + peak * PER_EVENT_MS);
  try {
    const look = async () => {
      const backlog = await readBacklog(databases);
      onLook(backlog);
      return backlog;
    };
    return await untilDrained(look, { sinceMs: endedAt, limitMs, signal });
  } catch (error) {
    signal.throwIfAborted();
    return messageOf(error);
  }
}

export interface Audited {
  /** A text: why there is none. */
  readonly report: AuditReport | string;
  /** A text: why they could not be looked at. */
  readonly repeatedKeys: readonly string[] | string;
  /** How the sagas of the run had ended after the audit. A text: why that could not be read. */
  readonly sagas: SagaOutcomes | string;
}

export interface AuditedRun {
  readonly runId: string;
  readonly folder: string;
  readonly records: readonly OrderRecord[];
  /** What was so before the run; undefined when it could not be audited. */
  readonly before: Baseline | undefined;
}

/**
 * Audits the platform with the responses that this run's clients received. `open` connects again: instances and crashes
 * are as of now, not of when the run began. A platform that is unavailable by now makes the audit unknown, not the run
 * an error.
 */
export async function auditLoad(
  open: () => Promise<AuditTarget>,
  { runId, folder, records, before }: AuditedRun,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (text: string) => void },
): Promise<Audited> {
  let repeated: readonly string[] | undefined;
  try {
    await using target = await open();
    const readOwn = () => readOwnOrders(target.databases, runId);
    const own = await readOwn();
    repeated = repeatedKeys(own);
    const historyFile = join(folder, 'history.ndjson');
    await writeHistory(historyFile, historyLines(records, own));
    const lostBefore = before?.lost;
    const report = await audit({ target, settleMs: SETTLE_MS, historyFile, lostBefore, signal, onProgress });
    return {
      report: await restrictToRun(sinceBaseline(report, before), async () =>
        unexpectedOrderIds(records, await readOwn()),
      ),
      repeatedKeys: repeated,
      sagas: await readOwn().then(sagaOutcomes, messageOf),
    };
  } catch (error) {
    signal.throwIfAborted();
    const why = messageOf(error);
    return { report: why, repeatedKeys: repeated ?? why, sagas: why };
  }
}

/** The invariant that there is no unexpected order. */
const NO_UNEXPECTED_ORDERS = 'I3';

/**
 * The audit knows the responses of this run's clients, and takes orders of others for unexpected ones. Those are looked
 * up when its snapshot is taken: until then others may place more. `readUnexpected` names the run's own.
 */
async function restrictToRun(
  report: AuditReport,
  readUnexpected: () => Promise<readonly string[]>,
): Promise<AuditReport> {
  const found = report.invariants.find(({ id }) => id === NO_UNEXPECTED_ORDERS);
  if (found?.verdict !== 'fail') return report;
  const checked = await checkUnexpected(found, readUnexpected);
  const invariants = report.invariants.map((result) => (result === found ? checked : result));
  return { ...report, invariants, verdict: worst(invariants.map((result) => result.verdict)) };
}

async function checkUnexpected(
  found: InvariantResult,
  readUnexpected: () => Promise<readonly string[]>,
): Promise<InvariantResult> {
  try {
    const unexpected = new Set(await readUnexpected());
    const isOthers = ({ kind, orderId }: InvariantResult['violations'][number]) =>
      kind === 'unexpected' && orderId !== undefined && !unexpected.has(orderId);
    const violations = found.violations.filter((violation) => !isOthers(violation));
    const others = found.violations.length - violations.length;
    const evidence = `${formatCount(unexpected.size)} unexpected orders of the run, ${formatCount(others)} of others left out`;
    return { ...found, verdict: verdictOf(violations, []), evidence, violations };
  } catch (error) {
    // Nothing is certain about orders of an unknown client.
    return { ...found, verdict: 'unknown', evidence: `whose orders they are: ${messageOf(error)}`, violations: [] };
  }
}
