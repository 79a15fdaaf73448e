import { worst } from '../../../shared/verdict.ts';
import { serviceNames } from '../../../topology/services.ts';
import {
  type AbsenceReason,
  ACCOUNTING_GRACE_MS,
  absencesIn,
  createAccountReader,
  mayStillCome,
  type ProcessAccount,
} from '../../../trace/accounting.ts';
import type { RecordedTrace } from '../../../trace/backend.ts';
import { durationMs, type TraceSpan } from '../../../trace/tree.ts';
import type { CountTolerance, SpanPattern, TraceProbe, TraceTolerance } from '../../format/schema.ts';
import type { RunContext } from '../run-context.ts';
import { type StepResult, unknown } from '../step-result.ts';
import { describeTolerance, isWithin } from '../tolerance.ts';

const DEFAULT_WITHIN_MS = 10_000;
const POLL_MS = 200;
/** A span that came late is seen within this, ms. */
const QUIET_MS = 1_000;

/** Spans that a trace can have beside those recorded: a store keeps 2,000 of one. */
const MAX_LOST = 2_000;

/**
 * Evaluates single spans of a trace. Waits until the rules hold and have held for a moment, because a span that must
 * not be there may come late. A count that further spans could bring in or out of its bound is final only when the span
 * counts prove that none was lost or is still to come.
 */
export async function checkSpans(traceId: string, step: TraceProbe, context: RunContext): Promise<StepResult> {
  const { clock, signal, platform } = context;
  const deadline = clock.now() + (step.within ?? DEFAULT_WITHIN_MS);
  const readAccounts = createAccountReader(platform.telemetry);
  let heldSince: number | undefined;
  for (;;) {
    // Before the trace: what they call exported is in it.
    const accounts = await readAccounts();
    const recorded = await platform.telemetry.trace(traceId);
    const rules = rulesOf(recorded.spans, step.tolerance);
    const isHeld = rules.every(isMet);
    if (!isHeld) heldSince = undefined;
    else heldSince ??= clock.now();
    const isLate = clock.now() >= deadline;
    const isSettled = heldSince !== undefined && clock.now() - heldSince >= (step.for ?? QUIET_MS);
    if (isSettled || (isLate && !isHeld)) {
      const doubts = doubtsAbout(recorded, openServices(rules), accounts);
      const result = resultOf(rules, recorded.spans.length, traceId);
      if (doubts.length === 0) return result;
      // The report that decides is waited for.
      const isPast = clock.now() >= deadline + ACCOUNTING_GRACE_MS;
      if (isPast || !doubts.some(({ mayPass }) => mayPass)) return inDoubt(result, doubts);
    }
    await clock.sleep(POLL_MS, signal);
  }
}

/** A count of spans and its bound. */
interface Rule {
  readonly what: string;
  readonly count: number;
  readonly bound: CountTolerance;
  /** Whose spans could be added to the count. */
  readonly services: readonly string[];
  /** How many at most. */
  readonly most: number;
}

function rulesOf(all: readonly TraceSpan[], tolerance: TraceTolerance): readonly Rule[] {
  const seen = new Set(all.map(({ service }) => service)).size;
  const ofAll = { services: serviceNames, most: MAX_LOST };
  const patterns = [
    ...(tolerance.has ?? []).map(({ count = { gte: 1 }, ...pattern }) => ({ pattern, bound: count })),
    ...(tolerance['has-not'] ?? []).map((pattern) => ({ pattern, bound: 0 })),
  ];
  const { spans, services } = tolerance;
  return [
    ...(spans === undefined ? [] : [{ what: 'spans', count: all.length, bound: spans, ...ofAll }]),
    ...(services === undefined
      ? []
      : [{ what: 'services', count: seen, bound: services, services: serviceNames, most: serviceNames.length - seen }]),
    ...patterns.map(({ pattern, bound }) => ({
      what: describeSpan(pattern),
      count: all.filter((span) => matches(span, pattern, all)).length,
      bound,
      ...ofAll,
      // A parent that was lost may be anybody's.
      ...(pattern.service !== undefined && pattern.under === undefined && { services: [pattern.service] }),
    })),
  ];
}

function isMet({ count, bound }: Rule): boolean {
  return isWithin(count, bound);
}

/** Whether further spans could make it otherwise. */
function isOpen(rule: Rule): boolean {
  return Array.from({ length: rule.most }, (_, more) => rule.count + more + 1).some(
    (count) => isWithin(count, rule.bound) !== isMet(rule),
  );
}

/** Services whose further spans could change the verdict; none when a rule is broken for good. */
function openServices(rules: readonly Rule[]): readonly string[] {
  const open = rules.filter(isOpen);
  if (rules.some((rule) => !isMet(rule) && !open.includes(rule))) return [];
  return open.flatMap(({ services }) => services);
}

interface Doubt {
  readonly why: string;
  /** It may be gone at the next attempt. */
  readonly mayPass: boolean;
}

/** Why spans of these services may exist beside those recorded. */
function doubtsAbout(
  { spans, incomplete }: RecordedTrace,
  services: readonly string[],
  accounts: readonly ProcessAccount[],
): Doubt[] {
  if (spans.length === 0) return [{ why: 'the trace is not in the store', mayPass: true }];
  if (services.length === 0) return [];
  if (incomplete !== undefined) return [{ why: incomplete, mayPass: false }];
  const absences = absencesIn(spans, services, accounts);
  return absences.filter(({ absence }) => absence !== 'never created').map(doubtOf);
}

function doubtOf(reason: AbsenceReason): Doubt {
  const { service, absence, evidence } = reason;
  return { why: `${service}: ${absence} (${evidence})`, mayPass: mayStillCome(reason) };
}

function inDoubt({ observed, traceIds }: StepResult, doubts: readonly Doubt[]): StepResult {
  return unknown(`${observed}; but spans may be missing: ${doubts.map(({ why }) => why).join('; ')}`, { traceIds });
}

function resultOf(rules: readonly Rule[], spans: number, traceId: string): StepResult {
  const problems = rules
    .filter((rule) => !isMet(rule))
    .map(({ what, count, bound }) => `${count} ${what}, not ${describeTolerance(bound)}`);
  const observed = problems.length === 0 ? `${spans} spans as wanted` : problems.join('; ');
  const evidence = problems.length === 0 ? undefined : `trace ${traceId}: ${problems.join('; ')}`;
  return { verdict: worst(problems.map(() => 'fail')), observed, evidence, traceIds: [traceId] };
}

function matches(span: TraceSpan, pattern: SpanPattern, all: readonly TraceSpan[]): boolean {
  const { name, service, kind, error, under, duration } = pattern;
  return (
    span.name === name &&
    (service === undefined || span.service === service) &&
    (kind === undefined || span.kind === kind) &&
    (error === undefined || span.error === error) &&
    (duration === undefined || isWithin(durationMs(span), duration)) &&
    (under === undefined || all.find(({ spanId }) => spanId === span.parentSpanId)?.name === under)
  );
}

function describeSpan({ name, service, kind, error, under, duration }: SpanPattern): string {
  const parts = [
    service,
    kind,
    `"${name}"`,
    error === undefined ? undefined : error ? 'in error' : 'not in error',
    under === undefined ? undefined : `under "${under}"`,
    duration === undefined ? undefined : `of ${describeTolerance(duration, ' ms')}`,
  ];
  return parts.filter((part) => part !== undefined).join(' ');
}

/** The rules in words. */
export function describePattern({ spans, services, has, 'has-not': hasNot }: TraceTolerance): string[] {
  return [
    ...(spans === undefined ? [] : [`${describeTolerance(spans)} spans`]),
    ...(services === undefined ? [] : [`${describeTolerance(services)} services`]),
    ...(has ?? []).map(({ count = { gte: 1 }, ...pattern }) => `${describeTolerance(count)} ${describeSpan(pattern)}`),
    ...(hasNot ?? []).map((pattern) => `no ${describeSpan(pattern)}`),
  ];
}
