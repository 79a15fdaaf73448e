import { setTimeout as delay } from 'node:timers/promises';
import {
  type AbsenceReason,
  ACCOUNTING_GRACE_MS,
  absencesIn,
  mayStillCome,
  type ProcessAccount,
} from './accounting.ts';
import type { RecordedTrace, TraceBackend } from './backend.ts';
import { type Comparison, compareTrace } from './compare.ts';
import { type ContractCounts, countsOf, type ExpectedSpan } from './contract.ts';
import { buildTree, type TraceTree } from './tree.ts';

export type Verdict = 'pass' | 'fail' | 'unknown';

export interface Clock {
  /** ms since 1970. */
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface AssertOptions {
  readonly backend: TraceBackend;
  readonly traceId: string;
  readonly expected: ExpectedSpan;
  /** How long the contract may take to be met, in ms. */
  readonly timeoutMs: number;
  /** How long it must then stay met, in ms: a late extra span still fails it. */
  readonly settleMs: number;
  /** Reads the processes' span bookkeeping; without it a missing span's reason is not known. */
  readonly accounting?: () => Promise<readonly ProcessAccount[]>;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

export interface AssertResult {
  readonly verdict: Verdict;
  /** One sentence: what was found. */
  readonly explanation: string;
  readonly comparison: Comparison;
  readonly tree: TraceTree;
  readonly counts: ContractCounts;
  /** Spans recorded. */
  readonly spans: number;
  /** Why spans are missing, per service. */
  readonly absences: readonly AbsenceReason[];
  /** From the first look to the verdict, in ms. */
  readonly waitedMs: number;
}

const POLL_MS = 100;

const systemClock: Clock = {
  now: Date.now,
  sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
};

/** What a look at the trace shows. */
interface Look {
  readonly recorded: RecordedTrace;
  readonly tree: TraceTree;
  readonly comparison: Comparison;
}

/**
 * Waits until the trace meets its contract, then watches it for the settle window. "fail" needs proof: a span that must
 * not be there, or a missing one that was never created; where spans may have been lost or are still to come the verdict
 * is "unknown". Rejects with CliError when the backend is away, and when `signal` aborts.
 */
export async function assertTrace(options: AssertOptions): Promise<AssertResult> {
  const { clock = systemClock, timeoutMs, settleMs, signal } = options;
  const startedAt = clock.now();
  let last = await look(options);
  let unchangedSince = startedAt;

  for (;;) {
    const now = clock.now();
    const settled = now - unchangedSince >= settleMs;
    if (isComplete(last) && settled) return conclude(options, last, [], clock.now() - startedAt);
    if (!isComplete(last) && now - startedAt >= timeoutMs) break;
    await clock.sleep(POLL_MS, signal);
    const next = await look(options);
    if (next.recorded.spans.length !== last.recorded.spans.length) unchangedSince = clock.now();
    last = next;
  }

  const [final, absences] = await explainAbsence(options, last, clock);
  return conclude(options, final, absences, clock.now() - startedAt);
}

async function look({ backend, traceId, expected }: AssertOptions): Promise<Look> {
  const recorded = await backend.trace(traceId);
  const tree = buildTree(recorded.spans);
  return { recorded, tree, comparison: compareTrace(expected, tree) };
}

/** Nothing is missing any more: more spans can only make it worse. */
function isComplete({ comparison }: Look): boolean {
  return comparison.faults.every(({ kind }) => kind !== 'missing');
}

/** Asks the bookkeeping until it says why each span is missing; a report may be a second old. */
async function explainAbsence(options: AssertOptions, first: Look, clock: Clock): Promise<[Look, AbsenceReason[]]> {
  const deadline = clock.now() + ACCOUNTING_GRACE_MS;
  let last = first;
  for (;;) {
    const accounts = (await options.accounting?.()) ?? [];
    // Looked at after the accounts were read: what they call exported is in the backend by now.
    last = await look(options);
    const absences = absencesOf(last, accounts);
    const isDecided = !absences.some(mayStillCome);
    if (isDecided || options.accounting === undefined || clock.now() >= deadline) return [last, absences];
    await clock.sleep(POLL_MS, options.signal);
  }
}

function absencesOf({ comparison, recorded }: Look, accounts: readonly ProcessAccount[]): AbsenceReason[] {
  const missing = comparison.faults.filter(({ kind }) => kind === 'missing');
  const services = missing.map(({ expected }) => String(expected?.service));
  return absencesIn(recorded.spans, services, accounts);
}

function conclude(
  { expected, traceId }: AssertOptions,
  { comparison, tree, recorded }: Look,
  absences: readonly AbsenceReason[],
  waitedMs: number,
): AssertResult {
  const counts = countsOf(expected);
  const [verdict, explanation] = judge(comparison, recorded, absences, traceId);
  return { verdict, explanation, comparison, tree, counts, spans: recorded.spans.length, absences, waitedMs };
}

function judge(
  { faults, lost }: Comparison,
  { spans, incomplete }: RecordedTrace,
  absences: readonly AbsenceReason[],
  traceId: string,
): [Verdict, string] {
  if (faults.length === 0) {
    const remark = lost.size > 0 ? `, ${lost.size} lost with their process as allowed` : '';
    return ['pass', `${spans.length} spans, as the contract wants${remark}`];
  }
  // A store that was started anew, or has let go of the trace, looks like a trace that never was.
  if (spans.length === 0) {
    const why = incomplete ?? 'it was never recorded, is still to come, or was lost';
    return ['unknown', `trace ${traceId} is not in the store: ${why}`];
  }
  const present = faults.filter(({ kind }) => kind !== 'missing');
  // Orphans and what seems misplaced or too many may follow from a span that is not there yet.
  const certain = absences.every(({ absence }) => absence === 'never created') && incomplete === undefined;
  if (certain) return ['fail', summarise(faults.length, present.length, absences)];
  const reasons = absences.map(({ service, absence, evidence }) => `${service}: ${absence} (${evidence})`);
  if (incomplete !== undefined) reasons.unshift(incomplete);
  return ['unknown', `${faults.length} differences; ${reasons.join('; ')}`];
}

function summarise(faults: number, present: number, absences: readonly AbsenceReason[]): string {
  const missing = faults - present;
  const parts = [
    ...(missing > 0
      ? [`${missing} missing (never created: ${absences.map(({ service }) => service).join(', ')})`]
      : []),
    ...(present > 0 ? [`${present} not as expected`] : []),
  ];
  return parts.join(', ');
}
