import { percentile } from '../shared/statistics.ts';
import type { Verdict } from '../shared/verdict.ts';
import { outcomeKey, outcomesOf, type TimedOrder } from './order-outcome.ts';
import type { Lane, PageData, SecondColumns, Span, SpanTone, UsageRow } from './page-data.ts';

/** Samples are taken once a second; a longer gap is shown as one. */
const SAMPLE_GAP_MS = 3_000;

/** Steps that overlap are put into lanes below each other, up to so many. */
const STEP_LANES = 4;

/** What a timeline is made of, of an experiment or a load. Times in ms since the run began. */
export interface TimelineInput {
  readonly endMs: number;
  readonly phases: readonly TimedPhase[];
  readonly steps: readonly TimedStep[];
  readonly events: readonly TimedEvent[];
  readonly orders: readonly TimedOrder[];
  readonly samples: readonly TimedSample[];
  readonly faults: readonly TimedFault[];
  readonly usage?: readonly UsageRow[];
}

export interface TimedPhase {
  readonly phase: string;
  readonly beginMs: number;
  /** Undefined: the run has no end of it. */
  readonly endMs: number | undefined;
  readonly verdict: Verdict | undefined;
}

export interface TimedStep {
  readonly name: string;
  readonly beginMs: number;
  readonly endMs: number | undefined;
  readonly verdict: Verdict | undefined;
}

export interface TimedEvent {
  readonly ms: number;
  readonly event: string;
  readonly details: string;
}

export interface TimedSample {
  readonly ms: number;
  readonly pending: number | undefined;
  readonly waiting: number | undefined;
  readonly breakers: Readonly<Record<string, number>>;
}

export interface TimedFault {
  readonly fault: string;
  readonly target: string;
  readonly injectedMs: number;
  /** Undefined: the run does not say that it was reverted. */
  readonly revertedMs: number | undefined;
}

/** What the charts are drawn from. */
export function timelineOf(report: TimelineInput): PageData {
  const ended = report.orders.filter(({ tookMs }) => tookMs !== undefined);
  const outcomes = outcomesOf(ended);
  const indexOf = new Map(outcomes.map((one, index) => [outcomeKey({ outcome: one.label, tone: one.tone }), index]));
  const kindOf = (order: TimedOrder) => indexOf.get(outcomeKey(order)) ?? 0;
  const faults = report.faults.map((fault) => faultSpan(fault, report.endMs));
  return {
    durationMs: report.endMs,
    outcomes: outcomes.map(({ label, tone, glyph }) => ({ label, tone, glyph })),
    orders: {
      placedMs: ended.map(({ placedMs }) => Math.round(placedMs)),
      tookMs: ended.map(({ tookMs = 0 }) => Math.round(tookMs)),
      outcome: ended.map(kindOf),
    },
    seconds: secondsOf(report, ended, outcomes.length, kindOf),
    happenings: happeningsOf(report, faults),
    breakers: breakerLanes(report.samples),
    faults,
    phases: phaseSpans(report),
    usage: report.usage ?? [],
  };
}

function secondsOf(
  { endMs, samples }: TimelineInput,
  orders: readonly TimedOrder[],
  outcomeCount: number,
  kindOf: (order: TimedOrder) => number,
): SecondColumns {
  const length = Math.floor(endMs / 1000) + 1;
  const times = Array.from({ length }, (): number[] => []);
  const responses = Array.from({ length: outcomeCount }, () => new Array<number>(length).fill(0));
  for (const order of orders) {
    const tookMs = order.tookMs ?? 0;
    times[secondOf(order.placedMs, length)]?.push(tookMs);
    const column = responses[kindOf(order)];
    const second = secondOf(order.placedMs + tookMs, length);
    if (column !== undefined) column[second] = (column[second] ?? 0) + 1;
  }
  const pending = new Array<number | null>(length).fill(null);
  const waiting = new Array<number | null>(length).fill(null);
  for (const sample of samples) {
    pending[secondOf(sample.ms, length)] = sample.pending ?? null;
    waiting[secondOf(sample.ms, length)] = sample.waiting ?? null;
  }
  return {
    p50: times.map((values) => rounded(percentile(values, 0.5))),
    p95: times.map((values) => rounded(percentile(values, 0.95))),
    responses,
    pending: withoutJitterGaps(pending),
    waiting: withoutJitterGaps(waiting),
  };
}

/** A response may be written a moment after the last record's time was taken. */
function secondOf(ms: number, length: number): number {
  return Math.min(length - 1, Math.max(0, Math.floor(ms / 1000)));
}

function rounded(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms);
}

/** A sampler that is a little late skips a second now and then: that is not a gap. */
function withoutJitterGaps(values: readonly (number | null)[]): (number | null)[] {
  return values.map(
    (value, index) => value ?? (typeof values[index + 1] === 'number' ? (values[index - 1] ?? null) : null),
  );
}

function happeningsOf(report: TimelineInput, faults: readonly Span[]): Lane[] {
  const lanes: Lane[] = [
    { label: 'phase', spans: phaseSpans(report) },
    ...stack(
      'step',
      report.steps.map((step) => stepSpan(step, report.endMs)),
    ),
    ...stack('fault', faults),
    { label: 'event', spans: report.events.map(eventSpan) },
  ];
  return lanes.filter(({ spans }) => spans.length > 0);
}

function phaseSpans({ phases, endMs }: TimelineInput): Span[] {
  return phases.map(({ phase, beginMs, endMs: ended = endMs, verdict }) => ({
    fromMs: Math.round(beginMs),
    toMs: Math.round(ended),
    label: withVerdict(phase, verdict),
    tone: 'plain',
  }));
}

/** A pass needs no word. */
function withVerdict(name: string, verdict: Verdict | undefined): string {
  return verdict === undefined || verdict === 'pass' ? name : `${name} (${verdict})`;
}

const TONES: Readonly<Record<Verdict, SpanTone>> = { pass: 'plain', fail: 'bad', unknown: 'warn' };

function stepSpan({ name, beginMs, endMs, verdict }: TimedStep, runEndMs: number): Span {
  const tone = verdict === undefined ? 'plain' : TONES[verdict];
  return { fromMs: Math.round(beginMs), toMs: Math.round(endMs ?? runEndMs), label: withVerdict(name, verdict), tone };
}

function faultSpan({ fault, target, injectedMs, revertedMs }: TimedFault, runEndMs: number): Span {
  return {
    fromMs: Math.round(injectedMs),
    toMs: Math.round(revertedMs ?? runEndMs),
    label: `${fault} ${target}`,
    tone: 'fault',
  };
}

function eventSpan({ ms, event, details }: TimedEvent): Span {
  const at = Math.round(ms);
  return { fromMs: at, toMs: at, label: details === '' ? event : `${event} ${details}`, tone: 'plain' };
}

/** Puts spans that overlap into lanes below each other; what fits into none shares the last. */
function stack(label: string, spans: readonly Span[]): Lane[] {
  const lanes: Span[][] = [];
  for (const span of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const free = lanes.find((lane) => (lane.at(-1)?.toMs ?? 0) <= span.fromMs);
    if (free !== undefined) free.push(span);
    else if (lanes.length < STEP_LANES) lanes.push([span]);
    else lanes.at(-1)?.push(span);
  }
  return lanes.map((lane, index) => ({ label: index === 0 ? label : '', spans: lane }));
}

const BREAKER_STATES: readonly { label: string; tone: SpanTone }[] = [
  { label: 'closed', tone: 'plain' },
  { label: 'half-open', tone: 'warn' },
  { label: 'open', tone: 'bad' },
];

function breakerLanes(samples: readonly TimedSample[]): Lane[] {
  const edges = [...new Set(samples.flatMap(({ breakers }) => Object.keys(breakers)))].sort();
  return edges.map((edge) => ({ label: edge, spans: breakerSpans(edge, samples) }));
}

/** Equal neighbours become one span; where nothing was measured there is none. */
function breakerSpans(edge: string, samples: readonly TimedSample[]): Span[] {
  const spans: { fromMs: number; toMs: number; label: string; tone: SpanTone }[] = [];
  for (const { ms, breakers } of samples) {
    const state = BREAKER_STATES[breakers[edge] ?? -1];
    if (state === undefined) continue;
    const last = spans.at(-1);
    const isNear = last !== undefined && ms - last.toMs <= SAMPLE_GAP_MS;
    if (isNear) last.toMs = Math.round(ms);
    if (!isNear || last.label !== state.label) spans.push({ fromMs: Math.round(ms), toMs: Math.round(ms), ...state });
  }
  return spans;
}
