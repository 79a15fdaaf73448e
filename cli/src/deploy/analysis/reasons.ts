import { writeDuration } from '../../shared/duration.ts';
import { type Guard, guardTitles, PROMOTION_EVIDENCE } from './plan.ts';

/** Why a verdict is as it is, for programs; `describeReason` has it in words. */
export type Reason =
  | { readonly code: 'guard_tripped'; readonly guard: Guard; readonly detail: string; readonly at: number }
  | {
      readonly code: 'worse';
      readonly test: 'errors' | 'slow';
      readonly logEvidence: number;
      readonly logLimit: number;
    }
  | {
      readonly code: 'span_short';
      readonly spanMs: number;
      readonly leastMs: number;
    }
  | { readonly code: 'one_burst'; readonly logEvidence: number; readonly burstMs: number }
  | { readonly code: 'evidence_missing' }
  | { readonly code: 'requests_missing'; readonly have: number; readonly need: number }
  | { readonly code: 'time_missing'; readonly haveMs: number; readonly needMs: number }
  | { readonly code: 'guard_unknown'; readonly guard: Guard; readonly detail: string }
  | { readonly code: 'slowness_unknown'; readonly warmUp: number }
  | { readonly code: 'margin_not_shown'; readonly margin: number; readonly logEvidence: number };

const EVENTS = { errors: 'failed requests', slow: 'slow requests' } as const;

export function describeReason(reason: Reason): string {
  switch (reason.code) {
    case 'guard_tripped':
      return `guard ${reason.guard}: ${reason.detail}`;
    case 'worse':
      return `${EVENTS[reason.test]}: evidence ${writePower(reason.logEvidence)} against the canary, the limit is ${writePower(reason.logLimit)}`;
    case 'span_short':
      return `${EVENTS.errors} of the canary span ${writeDuration(reason.spanMs)}, less than ${writeDuration(reason.leastMs)}: one bad moment of an instance does not decide`;
    case 'one_burst':
      return `${EVENTS.slow}: evidence ${writePower(reason.logEvidence)} against the canary without those of ${writeDuration(reason.burstMs)}: one bad moment of an instance does not decide`;
    case 'evidence_missing':
      return 'outcomes have not been read for 10 s';
    case 'requests_missing':
      return `${reason.have} of ${reason.need} requests`;
    case 'time_missing':
      return `${Math.floor(reason.haveMs / 1_000)} of ${Math.ceil(reason.needMs / 1_000)} s in this step`;
    case 'guard_unknown':
      return `guard ${reason.guard} is unknown (${guardTitles[reason.guard]}): ${reason.detail}`;
    case 'slowness_unknown':
      return `slowness is unknown before ${reason.warmUp} requests of the canary`;
    case 'margin_not_shown':
      return `not shown yet that its error rate exceeds the stable one by less than ${percent(reason.margin)} (evidence ${writePower(reason.logEvidence)} of ${PROMOTION_EVIDENCE})`;
  }
}

const percent = (share: number) => `${Number((share * 100).toPrecision(6))} %`;

/** e^x in few digits: `0.04`, `125`, `1e+87`, also where no number holds it. */
export function writePower(log: number): string {
  if (log < 0) return Math.exp(log).toPrecision(2);
  if (log < Math.log(1e6)) return String(Math.round(Math.exp(log) * 10) / 10);
  return `1e+${Math.floor(log / Math.LN10)}`;
}
