import { absenceOf, readAccounts } from '../../../trace/accounting.ts';
import type { RecordedTrace } from '../../../trace/backend.ts';
import { durationMs, type TraceSpan } from '../../../trace/tree.ts';
import type { SpanPattern, TraceProbe, TraceTolerance } from '../../format/schema.ts';
import { type StepResult, unknown, worst } from '../outcome.ts';
import type { RunContext } from '../run-context.ts';
import { describeTolerance, isWithin } from '../tolerance.ts';

const DEFAULT_WITHIN_MS = 10_000;
const POLL_MS = 200;
/** What has not been exported by then is not coming: two metric reports and their delay, ms. */
const QUIET_MS = 1_000;

/**
 * Judges single spans of a trace. Waits until the rules hold and have held for a moment, because a span that must not be
 * there may come late. What is missing is a deviation only when bookkeeping proves that no span was lost or still to come.
 */
export async function judgeSpans(traceId: string, step: TraceProbe, context: RunContext): Promise<StepResult> {
  const { clock, signal, platform } = context;
  const deadline = clock.now() + (step.within ?? DEFAULT_WITHIN_MS);
  let heldSince: number | undefined;
  for (;;) {
    const recorded = await platform.telemetry.trace(traceId);
    const result = judge(recorded, traceId, step.tolerance);
    if (result.outcome !== 'held') heldSince = undefined;
    else heldSince ??= clock.now();
    if (heldSince !== undefined && clock.now() - heldSince >= (step.for ?? QUIET_MS)) return result;
    if (clock.now() >= deadline && heldSince === undefined) return await orUnknown(result, recorded, context);
    await clock.sleep(POLL_MS, signal);
  }
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

/** A deviation that rests on a trace which may be incomplete is none. */
async function orUnknown(
  result: StepResult,
  { spans, incomplete }: RecordedTrace,
  context: RunContext,
): Promise<StepResult> {
  if (spans.length === 0) return unknown('the trace is not in the store', result);
  if (incomplete !== undefined) return unknown(incomplete, result);
  const accounts = await readAccounts(context.platform.telemetry);
  const starts = spans.map(({ startNanos }) => Number(startNanos / 1_000_000n));
  const ends = spans.map(({ endNanos }) => Number(endNanos / 1_000_000n));
  const activity = { firstActivityMs: Math.min(...starts), lastActivityMs: Math.max(...ends) };
  const lost = [...new Set(accounts.map(({ service }) => service))]
    .map((service) => absenceOf(service, accounts, activity))
    .filter(({ absence }) => absence !== 'never created');
  if (lost.length === 0) return result;
  const reasons = lost.map(({ service, absence, evidence }) => `${service}: ${absence} (${evidence})`);
  return unknown(`${result.observed}; but spans may be missing: ${reasons.join('; ')}`, { traceIds: result.traceIds });
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
