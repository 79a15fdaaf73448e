import { formatCount } from '../../output/units.ts';
import { isWithoutFailure, type Scenario } from '../format/schema.ts';
import { type DrillRecord, type RecordOf, recordsOf } from '../journal/records.ts';
import { measuredOf, noticedBy } from '../score/customers.ts';
import { isScore, type NoScore, type Score, scoreOf } from '../score/score.ts';
import type { Envelope } from '../seal/envelope.ts';

/** What happened when. */
export interface TimelineEntry {
  /** Since the start of the round. */
  readonly ms: number;
  /** `failure` is what was withheld until the end. */
  readonly lane: 'customers' | 'pages' | 'you' | 'failure' | 'round';
  readonly text: string;
}

/** Everything about a finished round, from its journal alone. */
export interface Debrief {
  readonly score: Score | NoScore;
  /** Undefined where the round was not revealed: it goes on, or its supervisor was killed. */
  readonly envelope?: Envelope;
  readonly timeline: readonly TimelineEntry[];
  readonly orders: { readonly sent: number; readonly failed: number; readonly slow: number; readonly shed: number };
}

export function debriefOf(records: readonly DrillRecord[]): Debrief {
  const envelope = recordsOf(records, 'reveal')[0]?.envelope;
  const entries = [
    ...records.flatMap((record) => entriesOf(record, envelope?.scenario)),
    ...symptoms(records, envelope),
  ];
  const seconds = recordsOf(records, 'second');
  const sum = (key: 'sent' | 'failed' | 'slow' | 'shed') =>
    seconds.reduce((total, second) => total + (second[key] ?? 0), 0);
  return {
    score: scoreOf(records),
    ...(envelope !== undefined && { envelope }),
    timeline: entries.toSorted((a, b) => a.ms - b.ms),
    orders: { sent: sum('sent'), failed: sum('failed'), slow: sum('slow'), shed: sum('shed') },
  };
}

/** `480 orders, 3 failed, 1 slow`, for people. */
export function describeOrders({ sent, failed, slow, shed }: Debrief['orders']): string {
  const parts = [`${formatCount(sent)} orders`, `${formatCount(failed)} failed`, `${formatCount(slow)} slow`];
  return [...parts, ...(shed > 0 ? [`${formatCount(shed)} shed`] : [])].join(', ');
}

export function hasScore(debrief: Debrief): debrief is Debrief & { readonly score: Score } {
  return isScore(debrief.score);
}

/** What it was, for people: one text for each independent failure. */
export function describeTruths(scenario: Scenario): readonly string[] {
  if (isWithoutFailure(scenario)) return ['Nothing was wrong'];
  return scenario.truths.map(({ component, mechanism, scope }) => `${component}, ${mechanism}, ${scope}`);
}

/** The seconds in which what customers notice began, or ended. */
function symptoms(records: readonly DrillRecord[], envelope: Envelope | undefined): readonly TimelineEntry[] {
  const noticed = noticedBy(records, envelope && measuredOf(envelope.scenario, records));
  return noticed.flatMap(({ second, outside }, index): readonly TimelineEntry[] => {
    const before = noticed[index - 1]?.outside;
    if ((outside === undefined) === (before === undefined)) return [];
    return [{ ms: second.ms, lane: 'customers', text: outside ?? 'served again' }];
  });
}

function entriesOf(record: DrillRecord, scenario: Scenario | undefined): readonly TimelineEntry[] {
  const entry = (lane: TimelineEntry['lane'], text: string, ms = record.ms) => [{ ms, lane, text }];
  switch (record.type) {
    case 'baseline':
      return entry('round', 'the platform serves; you are on call');
    case 'page':
      return entry('pages', `${record.alert} ${record.state}`);
    case 'ack':
      return entry('you', `${record.alert} acknowledged by ${record.by}`);
    case 'declare':
      return entry('you', `incident declared: ${record.text}`);
    case 'note':
    case 'update':
      return entry('you', `${record.type}: ${record.text}`);
    case 'blame':
      return entry('you', `blamed ${record.component}, ${record.mechanism}, ${record.scope}`);
    case 'hint':
      return entry('you', `hint: ${record.stage}`);
    case 'action':
      return entry('you', describeAction(record));
    case 'fixed':
      return entry('you', 'said that it is fixed');
    case 'all-clear':
      return entry('you', 'gave the all-clear');
    case 'peek':
      return entry('you', `looked at ${record.where}`);
    case 'proof':
      return entry('round', `an order was ${record.status} with ${record.spans} of ${record.expectedSpans} spans`);
    case 'end':
      return entry('round', `over: ${record.reason}`);
    case 'injected':
      return entry('failure', `began: ${describeInjection(scenario, record.index)}`, record.happenedMs);
    case 'witnessed':
      return entry('failure', `measured: ${record.evidence}`, record.happenedMs);
    case 'reverted':
      return entry('failure', `ended: ${record.why}`, record.happenedMs);
    case 'decoy':
      return entry('failure', `decoy: ${record.do} ${record.target}`, record.happenedMs);
    default:
      return [];
  }
}

function describeAction({ change, target, from, to, failed }: RecordOf<'action'>): string {
  const states = [from, to].filter((one) => one !== null).join(' → ');
  return `${change} ${target}${states === '' ? '' : `: ${states}`}${failed === undefined ? '' : ` (failed: ${failed})`}`;
}

function describeInjection(scenario: Scenario | undefined, index: number): string {
  const injection = scenario?.inject[index];
  switch (injection?.type) {
    case 'fault':
      return `${injection.fault} on ${injection.target}`;
    case 'load':
      return `${injection.factor} times the orders`;
    case 'message':
      return `${injection.count} malformed events`;
    case 'flag':
      return `${injection.flag} on for ${injection.percent} %`;
    case 'release':
      return `another release of ${injection.service}`;
    default:
      return 'unknown';
  }
}
