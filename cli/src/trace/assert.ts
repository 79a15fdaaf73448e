import { setTimeout as delay } from 'node:timers/promises';
import type { Verdict } from '../shared/verdict.ts';
import { serviceNames } from '../topology/services.ts';
import {
  type AbsenceReason,
  ACCOUNTING_GRACE_MS,
  absencesIn,
  mayStillCome,
  type ProcessAccount,
  type ReadAccounts,
} from './accounting.ts';
import type { RecordedTrace, TraceBackend } from './backend.ts';
import { type Comparison, compareTrace } from './compare.ts';
import { type ContractCounts, countsOf, type ExpectedSpan, flatten } from './contract.ts';
import { buildTree, type TraceTree } from './tree.ts';

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
  /** Reads the processes' span bookkeeping; without it a missing span's reason is not known, and a lost extra span not noticed. */
  readonly accounting?: ReadAccounts;
  /**
   * Other orders are in flight all the time, so that there are always spans to come. For a trace that meets its
   * contract the settle window alone shows that none of them belong to it. Lost ones still make it unknown.
   */
  readonly underLoad?: boolean;
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
  /** Why spans are missing, or may be, per service. */
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
 * not be there, or a missing one that was never created. So does "pass": a contract is the exact shape, and a span too
 * many may have been lost or be still to come. Otherwise the verdict is "unknown". Rejects with CliError when the
 * backend is unavailable, and when `signal` aborts.
 */
export async function assertTrace(options: AssertOptions): Promise<AssertResult> {
  const { clock = systemClock, timeoutMs, settleMs, signal } = options;
  const startedAt = clock.now();
  let last = await look(options);
  let unchangedSince = startedAt;

  for (;;) {
    const now = clock.now();
    const settled = now - unchangedSince >= settleMs;
    if (isComplete(last) && settled) break;
    if (!isComplete(last) && now - startedAt >= timeoutMs) break;
    await clock.sleep(POLL_MS, signal);
    const next = await look(options);
    if (next.recorded.spans.length !== last.recorded.spans.length) unchangedSince = clock.now();
    last = next;
  }

  // What is too many is proof.
  if (options.accounting === undefined && isMet(last)) return conclude(options, last, [], clock.now() - startedAt);
  if (isComplete(last) && !isMet(last)) return conclude(options, last, [], clock.now() - startedAt);
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

/** Nothing is missing, and nothing else than expected. */
function isMet({ comparison }: Look): boolean {
  return comparison.faults.length === 0;
}

/** Asks the bookkeeping until it says of each span why it is missing, or that none can be; a report may be a second old. */
async function explainAbsence(options: AssertOptions, first: Look, clock: Clock): Promise<[Look, AbsenceReason[]]> {
  const deadline = clock.now() + ACCOUNTING_GRACE_MS;
  let last = first;
  for (;;) {
    const accounts = (await options.accounting?.()) ?? [];
    // Looked at after the accounts were read: what they call exported is in the backend by now.
    last = await look(options);
    const absences = absencesOf(last, options, accounts);
    const isDecided = !absences.some(mayStillCome);
    if (isDecided || options.accounting === undefined || clock.now() >= deadline) return [last, absences];
    await clock.sleep(POLL_MS, options.signal);
  }
}

function absencesOf(
  last: Look,
  { expected, underLoad = false }: AssertOptions,
  accounts: readonly ProcessAccount[],
): AbsenceReason[] {
  const { comparison, recorded } = last;
  const missing = comparison.faults.filter(({ kind }) => kind === 'missing');
  // Any service may have made a span that the contract does not have.
  const ofMissing = missing.map((fault) => String(fault.expected?.service));
  if (!isMet(last)) return absencesIn(recorded.spans, ofMissing, accounts);
  const absences = absencesIn(recorded.spans, mayHaveMore(expected), accounts);
  return underLoad ? absences.filter((absence) => !mayStillCome(absence)) : absences;
}

/** Services that may have made more than the contract has; one whose process it lets be killed is not held to it. */
function mayHaveMore(expected: ExpectedSpan): readonly string[] {
  const killed = new Set(flatten(expected).flatMap(({ mayBeLost, service }) => (mayBeLost ? service : [])));
  return serviceNames.filter((service) => !killed.has(service));
}

function conclude(
  { expected, traceId }: AssertOptions,
  { comparison, tree, recorded }: Look,
  absences: readonly AbsenceReason[],
  waitedMs: number,
): AssertResult {
  const counts = countsOf(expected);
  const [verdict, explanation] = check(comparison, recorded, absences, traceId);
  return { verdict, explanation, comparison, tree, counts, spans: recorded.spans.length, absences, waitedMs };
}

function check(
  { faults, lost }: Comparison,
  { spans, incomplete }: RecordedTrace,
  absences: readonly AbsenceReason[],
  traceId: string,
): [Verdict, string] {
  if (faults.length === 0) {
    const doubts = absences.filter(({ absence }) => absence !== 'never created');
    if (incomplete !== undefined || doubts.length > 0) {
      const why = [...(incomplete === undefined ? [] : [incomplete]), ...doubts.map(describeAbsence)];
      return ['unknown', `${spans.length} spans, as the contract wants, but there may be more: ${why.join('; ')}`];
    }
    const remark = lost.size > 0 ? `, ${lost.size} lost with their process as allowed` : '';
    return ['pass', `${spans.length} spans, as the contract wants${remark}`];
  }
  // A store that was restarted, or has let go of the trace, looks like a trace that never was.
  if (spans.length === 0) {
    const why = incomplete ?? 'it was never recorded, is still to come, or was lost';
    return ['unknown', `trace ${traceId} is not in the store: ${why}`];
  }
  const present = faults.filter(({ kind }) => kind !== 'missing');
  // Orphans and what seems misplaced or too many may follow from a span that is not there yet.
  const certain = absences.every(({ absence }) => absence === 'never created') && incomplete === undefined;
  if (certain) return ['fail', summarise(faults.length, present.length, absences)];
  const reasons = absences.map(describeAbsence);
  if (incomplete !== undefined) reasons.unshift(incomplete);
  return ['unknown', `${faults.length} differences; ${reasons.join('; ')}`];
}

function describeAbsence({ service, absence, evidence }: AbsenceReason): string {
  return `${service}: ${absence} (${evidence})`;
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
