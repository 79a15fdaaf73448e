import { serviceNames } from '../../../platform/services.ts';
import {
  type AbsenceReason,
  ACCOUNTING_GRACE_MS,
  absencesIn,
  mayStillCome,
  readAccounts,
} from '../../../trace/accounting.ts';
import type { RecordedTrace } from '../../../trace/backend.ts';
import { durationMs, type TraceSpan } from '../../../trace/tree.ts';
import type { SpanPattern, TraceProbe, TraceTolerance } from '../../format/schema.ts';
import { type StepResult, unknown, worst } from '../outcome.ts';
import type { RunContext } from '../run-context.ts';
import { describeTolerance, isWithin } from '../tolerance.ts';

const DEFAULT_WITHIN_MS = 10_000;
const POLL_MS = 200;
/** A span that came late is seen within this, ms. */
const QUIET_MS = 1_000;

/**
 * Judges single spans of a trace. Waits until the rules hold and have held for a moment, because a span that must not be
 * there may come late. What is not there, to the good or to the bad, counts only when bookkeeping proves that no span was
 * lost or is still to come.
 */
export async function judgeSpans(traceId: string, step: TraceProbe, context: RunContext): Promise<StepResult> {
  const { clock, signal, platform } = context;
  const deadline = clock.now() + (step.within ?? DEFAULT_WITHIN_MS);
  let heldSince: number | undefined;
  for (;;) {
    const recorded = await platform.telemetry.trace(traceId);
    const result = judge(recorded, traceId, step.tolerance);
    const isHeld = result.outcome === 'held';
    if (!isHeld) heldSince = undefined;
    else heldSince ??= clock.now();
    const isLate = clock.now() >= deadline;
    const isSettled = heldSince !== undefined && clock.now() - heldSince >= (step.for ?? QUIET_MS);
    if (isSettled || (isLate && !isHeld)) {
      const doubts = await doubtsAbout(recorded, isHeld ? silent(step.tolerance) : serviceNames, context);
      if (doubts.length === 0) return result;
      // The report that decides is waited for.
      const isPast = clock.now() >= deadline + ACCOUNTING_GRACE_MS;
      if (isPast || !doubts.some(({ mayPass }) => mayPass)) return inDoubt(result, doubts);
    }
    await clock.sleep(POLL_MS, signal);
  }
}

/** Services whose spans a rule wants to be absent, or few enough to be absent: one that was lost would have met it, too. */
function silent({ spans, services, has = [], 'has-not': hasNot = [] }: TraceTolerance): readonly string[] {
  const ofNone = has.filter(({ count }) => count !== undefined && isWithin(0, count));
  const patterns = [...hasNot, ...ofNone];
  const bounds = [spans, services].filter((bound) => bound !== undefined);
  if (bounds.some((bound) => isWithin(0, bound))) return serviceNames;
  return patterns.flatMap(({ service }) => service ?? serviceNames);
}

interface Doubt {
  readonly why: string;
  /** It may be gone when looked at again. */
  readonly mayPass: boolean;
}

/** Why spans of these services may exist beside those recorded. */
async function doubtsAbout(
  { spans, incomplete }: RecordedTrace,
  services: readonly string[],
  { platform }: RunContext,
): Promise<Doubt[]> {
  if (spans.length === 0) return [{ why: 'the trace is not in the store', mayPass: true }];
  if (incomplete !== undefined) return [{ why: incomplete, mayPass: false }];
  if (services.length === 0) return [];
  const absences = absencesIn(spans, services, await readAccounts(platform.telemetry));
  return absences.filter(({ absence }) => absence !== 'never created').map(doubtOf);
}

function doubtOf(reason: AbsenceReason): Doubt {
  const { service, absence, evidence } = reason;
  return { why: `${service}: ${absence} (${evidence})`, mayPass: mayStillCome(reason) };
}

function inDoubt({ observed, traceIds }: StepResult, doubts: readonly Doubt[]): StepResult {
  return unknown(`${observed}; but spans may be missing: ${doubts.map(({ why }) => why).join('; ')}`, { traceIds });
}

function judge({ spans }: RecordedTrace, traceId: string, tolerance: TraceTolerance): StepResult {
  const problems: string[] = [];
  const count = (what: string, value: number, bound: TraceTolerance['spans']) => {
    if (bound !== undefined && !isWithin(value, bound))
      problems.push(`${value} ${what}, not ${describeTolerance(bound)}`);
  };
  count('spans', spans.length, tolerance.spans);
  count('services', new Set(spans.map(({ service }) => service)).size, tolerance.services);
  for (const { count: bound = { gte: 1 }, ...pattern } of tolerance.has ?? []) {
    count(describeSpan(pattern), spans.filter((span) => matches(span, pattern, spans)).length, bound);
  }
  for (const pattern of tolerance['has-not'] ?? []) {
    count(describeSpan(pattern), spans.filter((span) => matches(span, pattern, spans)).length, 0);
  }
  const observed = problems.length === 0 ? `${spans.length} spans as wanted` : problems.join('; ');
  const evidence = problems.length === 0 ? undefined : `trace ${traceId}: ${problems.join('; ')}`;
  return { outcome: worst(problems.map(() => 'deviated')), observed, evidence, traceIds: [traceId] };
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
