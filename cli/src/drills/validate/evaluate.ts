import { formatDuration } from '../../shared/duration.ts';
import type { Verdict } from '../../shared/verdict.ts';
import { isWithoutFailure, type Scenario } from '../format/schema.ts';
import type { ReadDrillJournal } from '../journal/journal-file.ts';
import { type DrillRecord, recordsOf } from '../journal/records.ts';
import type { Leak } from '../leak/find-leaks.ts';
import type { PlayedLine } from '../play/play-reference.ts';
import { measuredOf, noticedBy } from '../score/customers.ts';
import { begunMsOf, steadyMsOf } from '../score/round.ts';
import { isScore, scoreOf } from '../score/score.ts';
import { verifyJournal } from '../verify.ts';
import type { TrialCheck } from './trial.ts';

/** A round of a scenario whose reference solution was played. */
export interface EvaluatedRound {
  readonly scenario: Scenario;
  readonly journal: ReadDrillJournal;
  readonly played: readonly PlayedLine[];
  /** Undefined: nothing was looked at. */
  readonly leaks: LookedAt | undefined;
  /** What is left on the platform after the round, for people. */
  readonly left: readonly string[];
  /** All scenarios of the clone. */
  readonly scenarios: readonly Scenario[];
}

interface LookedAt {
  readonly found: readonly Leak[];
  /** How many. */
  readonly surfaces: number;
  /** Those that could not be read, and why. */
  readonly unread: readonly string[];
}

/** What a solution has to score. */
const REFERENCE_POINTS = 95;

const NAMES = {
  round: 'the round is evidence',
  witness: 'what is injected is measured',
  symptom: 'customers notice it as stated',
  pages: 'pages come as stated',
  reference: `the reference solution has ${REFERENCE_POINTS} points`,
  leaks: 'no surface says what it is',
  sealed: 'the journal proves the round',
  clean: 'nothing is left',
} as const satisfies Record<TrialCheck['id'], string>;

/** Whether a scenario is what its file says, by one round. A round that is void proves nothing: its checks are unknown. Pure. */
export function evaluateRound(round: EvaluatedRound): readonly TrialCheck[] {
  const { records } = round.journal;
  const whyVoid = voidReason(records);
  if (whyVoid !== undefined) return [check('round', 'unknown', whyVoid), cleanOf(round)];
  return [
    check('round', 'pass', `${recordsOf(records, 'second').length} s were measured`),
    witnessOf(round),
    isWithoutFailure(round.scenario) ? noSymptomOf(records) : symptomOf(round),
    pagesOf(round),
    referenceOf(round),
    leaksOf(round),
    sealedOf(round),
    cleanOf(round),
  ];
}

export function check(id: TrialCheck['id'], verdict: Verdict, evidence: string, details?: string): TrialCheck {
  return { id, name: NAMES[id], verdict, evidence, ...(details !== undefined && { details }) };
}

function voidReason(records: readonly DrillRecord[]): string | undefined {
  const end = recordsOf(records, 'end')[0];
  if (end === undefined) return 'the journal has no end';
  return end.why === 'void' || end.why === 'aborted' ? `${end.why}: ${end.reason}` : undefined;
}

function injectedMs(records: readonly DrillRecord[]): number {
  return recordsOf(records, 'injected')[0]?.happenedMs ?? Infinity;
}

const after = (ms: number) => `${formatDuration(ms)} after the injection`;

function witnessOf({ scenario, journal: { records } }: EvaluatedRound): TrialCheck {
  if (scenario.inject.length === 0) return check('witness', 'pass', 'nothing is injected');
  const witnessed = recordsOf(records, 'witnessed');
  const missing = scenario.inject.filter((_, index) => !witnessed.some((one) => one.index === index));
  if (missing.length === 0) return check('witness', 'pass', witnessed.map(({ evidence }) => evidence).join('; '));
  return check('witness', 'fail', `not measured: ${missing.map((one) => JSON.stringify(one)).join(', ')}`);
}

function symptomOf({ scenario, journal: { records } }: EvaluatedRound): TrialCheck {
  const { symptom } = scenario;
  if (symptom.of === 'none') return check('symptom', 'fail', 'the scenario states none');
  const since = injectedMs(records);
  const noticed = noticedBy(records, measuredOf(scenario, records)).filter(({ second }) => second.ms >= since);
  const first = noticed.find(({ kinds }) => kinds.has(symptom.of));
  if (first === undefined) {
    const others = noticed.find(({ outside }) => outside !== undefined)?.outside ?? 'nothing';
    return check('symptom', 'fail', `no ${symptom.of}; noticed was: ${others}`);
  }
  const tookMs = first.second.ms - since;
  const verdict = tookMs <= symptom.within ? 'pass' : 'fail';
  return check('symptom', verdict, `${symptom.of} ${after(tookMs)}, at most ${formatDuration(symptom.within)}`);
}

/** What was before the platform was steady is not of the round. */
function noSymptomOf(records: readonly DrillRecord[]): TrialCheck {
  const from = steadyMsOf(records);
  const seconds = noticedBy(records).filter(({ second }) => second.ms > from);
  const outside = seconds.find((one) => one.outside !== undefined);
  if (outside === undefined) return check('symptom', 'pass', `none in ${seconds.length} s`);
  return check('symptom', 'fail', `${outside.outside} at ${formatDuration(outside.second.ms)}`);
}

function pagesOf({ scenario, journal: { records } }: EvaluatedRound): TrialCheck {
  const isWithout = isWithoutFailure(scenario);
  const since = isWithout ? steadyMsOf(records) : begunMsOf(records);
  const fired = recordsOf(records, 'page').filter(({ state, ms }) => state === 'firing' && ms >= since);
  const seen = fired.map(({ alert, ms }) => `${alert} ${isWithout ? `at ${formatDuration(ms)}` : after(ms - since)}`);
  const text = seen.join(', ') || 'none';
  const { pages, may } = scenario;
  if (pages.length === 0)
    return check('pages', fired.every(({ alert }) => may.includes(alert)) ? 'pass' : 'fail', text);
  const isStated = fired.some(({ alert }) => pages.includes(alert));
  return check('pages', isStated ? 'pass' : 'fail', isStated ? text : `${text}; stated: ${pages.join(', ')}`);
}

function referenceOf({ journal: { records }, played }: EvaluatedRound): TrialCheck {
  const failed = played.find(({ problem }) => problem !== undefined);
  if (failed !== undefined) return check('reference', 'fail', `"${failed.line}": ${failed.problem}`);
  const score = scoreOf(records);
  if (!isScore(score)) return check('reference', 'fail', `no score, ${score.why}: ${score.reason}`);
  const losses = score.parts.flatMap(({ name, losses }) =>
    losses.map(({ points, reason }) => `${name} -${points}: ${reason}`),
  );
  const verdict = score.points >= REFERENCE_POINTS ? 'pass' : 'fail';
  return check('reference', verdict, [`${score.points} points`, ...losses].join('; '));
}

function leaksOf({ leaks }: EvaluatedRound): TrialCheck {
  if (leaks === undefined) return check('leaks', 'unknown', 'no surface was looked at: the solution ended too early');
  const { found, surfaces, unread } = leaks;
  if (found.length === 0 && unread.length > 0) return check('leaks', 'unknown', unread.join('; '));
  if (found.length === 0) return check('leaks', 'pass', `${surfaces} surfaces`);
  const lines = found.map(({ surface, what, excerpt }) => `${surface}: ${what}: ${excerpt}`);
  return check('leaks', 'fail', `${found.length} in ${surfaces} surfaces; the first: ${lines[0]}`, lines.join('\n'));
}

function sealedOf({ journal, scenarios }: EvaluatedRound): TrialCheck {
  const findings = verifyJournal(journal, scenarios);
  const bad = findings.find(({ verdict }) => verdict !== 'pass');
  return bad === undefined
    ? check('sealed', 'pass', findings.map(({ id }) => id).join(', '))
    : check('sealed', bad.verdict, `${bad.id}: ${bad.evidence}`);
}

function cleanOf({ left }: EvaluatedRound): TrialCheck {
  return left.length === 0 ? check('clean', 'pass', 'as before') : check('clean', 'fail', left.join('; '));
}
