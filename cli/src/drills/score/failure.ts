import { formatDuration } from '../../shared/duration.ts';
import { type RecordOf, recordsOf } from '../journal/records.ts';
import { beganMs, needlessActions } from './actions.ts';
import { createPart, type OpenPart, type Part, progress } from './part.ts';
import type { Round } from './round.ts';
import { rubric } from './rubric.ts';

/** 20 points for a response within 30 s of the symptom, none after 5 min. */
export function scoreDetection({ records, symptom, detected, end }: Round): Part {
  const { points, fullWithinMs, noneAfterMs } = rubric.detect;
  const part = createPart('detect', points);
  if (symptom === undefined || detected === undefined) {
    part.lose(points, 'no page was acknowledged, and no incident declared', [end.seq]);
  } else {
    const tookMs = detected.ms - symptom.second.ms;
    const reason = `${formatDuration(Math.max(0, tookMs))} from the symptom to the first response`;
    part.lose(points * progress(tookMs, fullWithinMs, noneAfterMs), reason, [symptom.second.seq, detected.seq]);
  }
  const used = recordsOf(records, 'hint').find(({ stage }) => stage === 'detect');
  if (used) part.lose(rubric.hints.detect, 'the hint on what to look at first', [used.seq]);
  return part.done();
}

/** Customers are served, because of an action, and an order proves it. */
export function scoreMitigation(round: Round): Part {
  const part = createPart('mitigate', rubric.mitigate.points);
  const whyNone = unmitigated(round);
  if (whyNone) part.lose(part.left(), ...whyNone);
  else loseByTime(part, round);
  const used = recordsOf(round.records, 'hint').find(({ stage }) => stage === 'mitigate');
  if (used) part.lose(rubric.hints.mitigate, 'the hint on what to do', [used.seq]);
  return part.done();
}

type Reason = readonly [reason: string, evidence: readonly number[]];

function unmitigated({ records, symptom, recovered, end, clocks }: Round): Reason | undefined {
  if (end.why === 'all-clear') return ['an all-clear was given while something was wrong', [end.seq]];
  if (symptom === undefined || recovered === undefined) {
    return [`customers were not served for ${formatDuration(rubric.mitigate.goodForMs)}`, [end.seq]];
  }
  const ended = recordsOf(records, 'reverted').find(({ happenedMs }) => happenedMs <= recovered.ms);
  const actions = recordsOf(records, 'action').filter(
    (one) => one.failed === undefined && beganMs(one) <= recovered.ms,
  );
  const mine = actions.filter(({ ms }) => ms >= (clocks.injectedMs ?? 0));
  if (ended !== undefined) return [`it ended without the trainee: ${ended.why}`, [ended.seq]];
  if (mine.length === 0) return ['no action came before the recovery', [recovered.seq]];
  const proof = recordsOf(records, 'proof').at(-1);
  if (proof === undefined) return ['no order proved that customers are served', [end.seq]];
  if (isProved(proof)) return undefined;
  return [
    `the order that should prove it was ${proof.status}, with ${proof.spans} of ${proof.expectedSpans} spans`,
    [proof.seq],
  ];
}

/** Whether an order is confirmed with all its spans. Pure. */
export function isProved({
  status,
  spans,
  expectedSpans,
}: Pick<RecordOf<'proof'>, 'status' | 'spans' | 'expectedSpans'>): boolean {
  return status === 'Confirmed' && spans === expectedSpans;
}

function loseByTime(part: OpenPart, { symptom, recovered, start }: Round): void {
  if (symptom === undefined || recovered === undefined) return;
  const { points, fullWithinMs, atLimit } = rubric.mitigate;
  const tookMs = recovered.ms - symptom.second.ms;
  const longestMs = Math.max(fullWithinMs + 1, start.limitMs - symptom.second.ms);
  const reason = `${formatDuration(tookMs)} from the symptom until customers were served`;
  part.lose((points - atLimit) * progress(tookMs, fullWithinMs, longestMs), reason, [
    symptom.second.seq,
    recovered.seq,
  ]);
}

/** What was disturbed, lost or destroyed meanwhile. */
export function scoreSafety(round: Round): Part {
  const part = createPart('safety', rubric.safety.points);
  loseByHarm(part, round);
  return part.done();
}

export function loseByHarm(part: OpenPart, { records, scenario, recovered }: Round): void {
  const { needless, destroyed, order } = rubric.safety;
  const actions = recordsOf(records, 'action');
  for (const { action, destroys, isForgiven } of needlessActions(actions, scenario, recovered?.ms)) {
    const what = `${action.change} of ${action.target}`;
    if (destroys) part.lose(destroyed, `${what} destroyed what was evidence`, [action.seq]);
    else if (!isForgiven) part.lose(needless, `${what} was needless`, [action.seq]);
  }
  const audit = recordsOf(records, 'audit').at(-1);
  if (audit === undefined) return;
  const orders = audit.lost + audit.doubled;
  part.lose(order * orders, `${audit.lost} orders lost, ${audit.doubled} doubled`, [audit.seq]);
}
