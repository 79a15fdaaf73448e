import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AuditReport, audit } from '../../audit/audit.ts';
import { auditBaseline, type Baseline, sinceBaseline } from '../../audit/baseline.ts';
import { type InvariantResult, VERDICT_WORDS } from '../../audit/invariant.ts';
import type { AuditRules } from '../format/schema.ts';
import type { AuditedInvariant } from '../journal-records.ts';
import type { Finding } from './findings.ts';
import type { LoggedOrder } from './order-log.ts';
import { customerOf } from './providers/place-order.ts';
import type { RunContext } from './run-context.ts';
import { verdictWhere } from './step-result.ts';

/** An order that was not placed by the run: it was there when the run began, or another client placed it meanwhile. */
interface OtherOrder {
  readonly id: string;
  readonly status: 'Confirmed' | 'Cancelled' | null;
}

/** How far I3 looks back from the first order of a history, with some slack, s: those orders are not this run's. */
const LOOK_BACK_S = 60;
/** Others may go on ordering while the ledger settles. */
const MAX_AUDITS = 3;

/** What was so before the run, and is not held against it. */
export interface Before {
  readonly orders: readonly OtherOrder[];
  /** What the ledger was like; undefined when it could not be audited. */
  readonly ledger: Baseline | undefined;
}

export async function readBefore(
  context: Pick<RunContext, 'platform' | 'freshAuditTarget' | 'signal'>,
): Promise<Before> {
  await using target = await context.freshAuditTarget();
  const ledger = await auditBaseline(target, context.signal);
  return { orders: await earlierOrders(context), ledger };
}

/** Orders from just before the run: another client asked for them. */
async function earlierOrders({ platform }: Pick<RunContext, 'platform'>): Promise<readonly OtherOrder[]> {
  return platform.databases.query<OtherOrder>(
    'orders',
    `SELECT id::text, status FROM orders WHERE created_at > now() - interval '${LOOK_BACK_S} s' ORDER BY created_at`,
  );
}

/** Orders that other clients have placed beside the run's, up to now: its own have a separate customer. */
async function ordersOfOthers({ platform, runId, orders }: RunContext): Promise<readonly OtherOrder[]> {
  const [first] = orders.orders;
  if (first === undefined) return [];
  return platform.databases.query<OtherOrder>(
    'orders',
    'SELECT id::text, status FROM orders WHERE customer <> $1 AND created_at > to_timestamp($2::float8 / 1000) ORDER BY created_at',
    [customerOf(runId), first.invokedTime - LOOK_BACK_S * 1000],
  );
}

/** Audits with the responses of this run's clients, and holds the result against the file's rules. */
export async function auditRun(
  context: RunContext,
  { folder, before, rules }: { folder: string; before: Before; rules: AuditRules },
): Promise<readonly Finding[]> {
  const historyFile = join(folder, 'history.jsonl');
  // Instances and crashes are as of now, not of when the run began.
  await using target = await context.freshAuditTarget();
  let others = await ordersOfOthers(context);
  let whole: AuditReport;
  for (let audits = 1; ; audits++) {
    const known = new Map([...before.orders, ...others].map((order) => [order.id, order]));
    await writeFile(historyFile, historyText(context.orders.orders, [...known.values()]), { mode: 0o600 });
    whole = await audit({
      target,
      settleMs: rules.settle,
      historyFile,
      deadLetters: rules['dead-letters'],
      lostBefore: before.ledger?.lost,
      signal: context.signal,
    });
    const later = await ordersOfOthers(context);
    const isSame = later.length === others.length;
    others = later;
    if (isSame || audits >= MAX_AUDITS) break;
  }
  noteOthers(others, before, context);
  const report = sinceBaseline(whole, before.ledger);
  const invariants = checkReport(report, rules);
  context.journal.write({
    type: 'audit',
    verdict: report.verdict,
    orders: report.orders,
    tookMs: report.tookMs,
    invariants,
  });
  return [...invariants.flatMap(findingOf), ...missingFrom(report, rules)];
}

/**
 * Each invariant against the file's rules. What had not ended when the settling was over is not known to end well. Pure.
 */
export function checkReport(
  { invariants, settled, waitingFor }: Pick<AuditReport, 'invariants' | 'settled' | 'waitingFor'>,
  rules: AuditRules,
): readonly AuditedInvariant[] {
  return invariants.map((result) => {
    const isOpen = !settled && result.verdict === 'pass' && result.inFlight > 0;
    const evidence = `${result.evidence}, ${result.inFlight} still in flight after ${rules.settle / 1000} s (${waitingFor})`;
    return hold(isOpen ? { ...result, verdict: 'unknown', evidence } : result, rules);
  });
}

/** What the file expects of an invariant that the audit does not have was never looked at. Pure. */
export function missingFrom({ invariants }: Pick<AuditReport, 'invariants'>, { expect }: AuditRules): Finding[] {
  return Object.keys(expect)
    .filter((id) => !invariants.some((one) => one.id === id))
    .map((id) => ({ verdict: 'unknown', reason: `${id} is expected to fail, and the audit has no ${id}` }));
}

/** They are no failure of the run, and its counters and gauges show them all the same. */
function noteOthers(others: readonly OtherOrder[], before: Before, { journal }: Pick<RunContext, 'journal'>): void {
  const earlier = new Set(before.orders.map(({ id }) => id));
  const meanwhile = others.filter(({ id }) => !earlier.has(id)).length;
  if (meanwhile > 0) {
    journal.write({ type: 'event', event: 'orders.of-others', details: `${meanwhile} orders of other clients` });
  }
}

/** NDJSON as `audit --history` reads it. */
function historyText(orders: readonly LoggedOrder[], earlier: readonly OtherOrder[]): string {
  const lines = [
    ...earlier.map(({ id, status }) => ({ orderId: id, status: status ?? 'unclear' })),
    ...orders.map(({ response, invokedTime, key }) => ({
      orderId: response?.orderId,
      status: response?.state === 'ok' ? response.status : response?.state === 'fail' ? 'rejected' : 'unclear',
      reason: response?.state === 'ok' ? response.reason : undefined,
      time: invokedTime,
      key,
    })),
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

function hold(result: InvariantResult, { accept, expect }: AuditRules): AuditedInvariant {
  const { id, verdict: audited } = result;
  if (expect[id] !== undefined)
    return { ...result, audited, verdict: verdictWhere('fail', audited), rule: 'expected to fail' };
  const verdict = verdictWhere('pass', audited);
  const isAccepted = verdict === 'unknown' && (accept[id] ?? []).some((accepted) => accepted === audited);
  return isAccepted ? { ...result, audited, verdict: 'pass', rule: 'accepted' } : { ...result, audited, verdict };
}

function findingOf({ id, title, verdict, evidence, audited, violations }: AuditedInvariant): Finding[] {
  if (verdict === 'pass') return [];
  const first = violations[0] === undefined ? '' : ` (${violations[0].kind}: ${violations[0].detail})`;
  return [{ verdict, reason: `${id} ${title} ${VERDICT_WORDS[audited]}: ${evidence}${first}` }];
}
