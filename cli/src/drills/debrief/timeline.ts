import type { Lane, PageData, Span, SpanTone } from '../../report/page-data.ts';
import { type DrillRecord, type RecordOf, recordsOf } from '../journal/records.ts';
import { measuredOf } from '../score/customers.ts';
import type { Round } from '../score/round.ts';
import type { TimelineEntry } from './debrief.ts';

/** Responses of a second that are good, and took no longer than a customer likes; see the rubric. */
const OUTCOMES: PageData['outcomes'] = [
  { label: 'as it should be', tone: 'good', glyph: 0 },
  { label: 'the same after more than 1 s', tone: 'warn', glyph: 1 },
  { label: 'failed', tone: 'bad', glyph: 2 },
];
/** In rounds in which an operator has shed orders. */
const SHED: PageData['outcomes'][number] = { label: 'shed', tone: 'lost', glyph: 3 };

const SAME_LOOK_MS = 3_000;

/** What the charts of a debrief are drawn from. Pure. */
export function chartsOf(round: Round, timeline: readonly TimelineEntry[]): PageData {
  const { records, end } = round;
  const endMs = records.at(-1)?.ms ?? end.ms;
  const seconds = bySecond(recordsOf(records, 'second'), endMs);
  const metric = measuredOf(round.scenario, records)?.values;
  const failures = failureSpans(records, timeline, end.ms);
  const shed = seconds.map((one) => one?.shed ?? 0);
  const isShed = shed.some((count) => count > 0);
  return {
    durationMs: endMs,
    outcomes: isShed ? [...OUTCOMES, SHED] : OUTCOMES,
    orders: { placedMs: [], tookMs: [], outcome: [] },
    seconds: {
      p50: seconds.map(() => null),
      p95: seconds.map(() => null),
      responses: [
        seconds.map((one) => (one?.good ?? 0) - (one?.slow ?? 0)),
        seconds.map((one) => one?.slow ?? 0),
        seconds.map((one) => one?.failed ?? 0),
        ...(isShed ? [shed] : []),
      ],
      pending: seconds.map((one) => one?.overdue ?? null),
      waiting: seconds.map((one) => (one && metric?.get(one.seq)) ?? null),
    },
    happenings: [
      // Labels of two in one lane would cover each other.
      ...failures.map((one, index) => lane(index === 0 ? 'failure' : '', [one])),
      lane('decoys', decoySpans(records)),
      lane('customers', customerSpans(round)),
      ...pageLanes(records, endMs),
      lane('looks', lookSpans(records)),
      lane('trainee', instants(timeline, 'you')),
      lane('round', instants(timeline, 'round')),
    ].filter(({ spans }) => spans.length > 0),
    breakers: [],
    faults: failures,
    phases: [],
    usage: [],
  };
}

/** One entry a second; the records of seconds are a moment late. */
function bySecond(records: readonly RecordOf<'second'>[], endMs: number): (RecordOf<'second'> | undefined)[] {
  const seconds = new Array<RecordOf<'second'> | undefined>(Math.floor(endMs / 1000) + 1).fill(undefined);
  for (const record of records) seconds[Math.min(seconds.length - 1, Math.floor(record.ms / 1000))] = record;
  return seconds;
}

/** Each injection until it ended. */
function failureSpans(records: readonly DrillRecord[], timeline: readonly TimelineEntry[], endMs: number): Span[] {
  return recordsOf(records, 'injected').map(({ index, happenedMs }) => {
    const ended = recordsOf(records, 'reverted').find((one) => one.index === index)?.happenedMs ?? endMs;
    const entry = timeline.filter(({ lane, text }) => lane === 'failure' && text.startsWith('began: '))[index];
    return span(happenedMs, ended, entry?.text.replace('began: ', '') ?? 'injected', 'fault');
  });
}

function decoySpans(records: readonly DrillRecord[]): Span[] {
  return recordsOf(records, 'decoy').map((one) =>
    span(one.happenedMs, one.happenedMs, `decoy: ${one.do} ${one.target}`, 'plain'),
  );
}

/** From the first second in which customers notice something to the first in which they do not. */
function customerSpans({ noticed }: Round): Span[] {
  const spans: { from: number; to: number; label: string }[] = [];
  let open: { from: number; to: number; label: string } | undefined;
  for (const { second, outside } of noticed) {
    if (outside === undefined) open = undefined;
    else if (open !== undefined) open.to = second.ms;
    else {
      open = { from: second.ms, to: second.ms, label: outside };
      spans.push(open);
    }
  }
  return spans.map(({ from, to, label }) => span(from, to, label, 'bad'));
}

/** A lane for each alert: from its first page to when the last of it was resolved. */
function pageLanes(records: readonly DrillRecord[], endMs: number): Lane[] {
  const pages = Map.groupBy(recordsOf(records, 'page'), ({ alert }) => alert);
  return [...pages].map(([alert, all], index) => {
    const fired = all.filter(({ state }) => state === 'firing');
    const resolved = all.filter(({ state }) => state === 'resolved');
    const toMs = resolved.length < fired.length ? endMs : (resolved.at(-1)?.ms ?? endMs);
    return lane(index === 0 ? 'pages' : '', [span(all[0]?.ms ?? 0, toMs, alert, 'warn')]);
  });
}

/** What the trainee asked, without repetitions of one source within some seconds. */
function lookSpans(records: readonly DrillRecord[]): Span[] {
  const looks = recordsOf(records, 'look');
  return looks
    .filter(
      ({ source, ms }, index) =>
        !looks.slice(0, index).some((one) => one.source === source && ms - one.ms < SAME_LOOK_MS),
    )
    .map(({ source, ms }) => span(ms, ms, source, 'plain'));
}

function instants(timeline: readonly TimelineEntry[], wanted: TimelineEntry['lane']): Span[] {
  return timeline.filter(({ lane }) => lane === wanted).map(({ ms, text }) => span(ms, ms, text, 'plain'));
}

function span(fromMs: number, toMs: number, label: string, tone: SpanTone): Span {
  return { fromMs: Math.round(fromMs), toMs: Math.round(Math.max(fromMs, toMs)), label, tone };
}

function lane(label: string, spans: readonly Span[]): Lane {
  return { label, spans };
}
