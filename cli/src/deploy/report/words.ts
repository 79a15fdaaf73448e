import { formatDuration } from '../../shared/duration.ts';
import type { CheckResult } from '../../shared/verdict.ts';
import { guardTitles, PROMOTION_EVIDENCE } from '../analysis/plan.ts';
import { describeReason } from '../analysis/reasons.ts';
import { type DeployRun, isOver } from '../run.ts';
import { type DeployReport, percent } from './deploy-report.ts';

/** How a deploy ended, as the verdict of a check: what could not be observed is not a pass. */
export function verdictOf({ state, isDirty }: DeployRun): 'pass' | 'fail' | 'unknown' | 'dirty' | 'interrupted' {
  if (isDirty) return 'dirty';
  if (state === 'done') return 'pass';
  if (state === 'inconclusive') return 'unknown';
  return isOver(state) ? 'fail' : 'interrupted';
}

const SUMMARIES = {
  pass: 'the new release has all calls',
  fail: 'the release of before has all calls',
  unknown: 'evidence was missing, and the release of before has all calls',
  dirty: 'it could not be rolled back completely',
  interrupted: 'it is not over',
} as const;

export const summaryOf = (run: DeployRun): string => SUMMARIES[verdictOf(run)];

export function reasonsOf({ run, evaluated }: DeployReport): readonly string[] {
  const { cause } = run;
  const own = cause === undefined ? [] : [`${cause.guard ?? cause.kind}: ${cause.text}`];
  const more = evaluated?.reasons.map(describeReason) ?? [];
  return [...own, ...more.filter((reason) => !own.some((one) => one.includes(reason)))];
}

/** What was checked, one by one, for a table and for JUnit. */
export function checksOf(report: DeployReport): readonly CheckResult[] {
  const { run, guards, evaluated, states } = report;
  return [...preflightCheck(run, states), ...testChecks(report), ...guards.map(guardCheck), ...keepCheck()];

  function guardCheck({ guard, state, detail }: (typeof guards)[number]): CheckResult {
    const verdict = state === 'held' ? 'pass' : state === 'tripped' ? 'fail' : 'unknown';
    return { id: guard, group: 'guard', name: guardTitles[guard], verdict, evidence: detail };
  }

  function keepCheck(): CheckResult[] {
    const kept = states.find(({ state }) => state === 'kept');
    if (kept === undefined) return [];
    const verdict = run.state === 'done' ? 'pass' : run.state === 'inconclusive' ? 'unknown' : 'fail';
    const evidence = run.cause?.text ?? `watched for ${formatDuration(kept.toMs - kept.fromMs)}`;
    return [{ group: 'deploy', name: 'the new release serves well with all calls', verdict, evidence }];
  }

  function testChecks({ run: { canary } }: DeployReport): CheckResult[] {
    if (canary === undefined || evaluated === undefined) return [];
    const { plan } = canary;
    const { errors, slow, promotion } = evaluated.tests;
    const worse = (id: string, name: string, test: typeof errors, alpha: number): CheckResult => ({
      id,
      group: 'test',
      name,
      verdict: test.isUnknown ? 'unknown' : test.logEvidence >= test.logLimit ? 'fail' : 'pass',
      evidence: `evidence ${power(test.logEvidence)}, the limit is ${power(test.logLimit)} (wrong in at most ${percent(alpha)})`,
    });
    return [
      worse('E', 'the canary fails no more often than stable', errors, plan.errors.alpha),
      worse('S', 'the canary is not slower than stable', slow, plan.slow.alpha),
      {
        id: 'P',
        group: 'test',
        name: `the canary is shown to fail more often by less than ${percent(plan.margin)}`,
        verdict: promotion.logEvidence >= promotion.logLimit ? 'pass' : 'unknown',
        evidence: `evidence ${power(promotion.logEvidence)}, ${PROMOTION_EVIDENCE} are needed`,
      },
    ];
  }
}

function preflightCheck({ cause, steps }: DeployRun, states: DeployReport['states']): CheckResult[] {
  if (!states.some(({ state }) => state === 'preflight')) return [];
  const isBad = cause?.guard === 'preflight' || cause?.guard === 'trace-shape' || cause?.guard === 'not-ready';
  const found = steps.find(({ text }) => / orders through |takes no messages yet/.test(text));
  const name = 'the release serves orders before clients reach it';
  if (found !== undefined) return [{ group: 'deploy', name, verdict: 'pass', evidence: found.text }];
  return [
    {
      group: 'deploy',
      name,
      verdict: isBad ? 'fail' : 'unknown',
      evidence: cause?.text ?? 'it was not concluded',
      ...(cause?.details !== undefined && { details: cause.details }),
    },
  ];
}

/** e^x in few digits, also where no number holds it. */
function power(log: number): string {
  if (log < Math.log(1e6)) return String(Number(Math.exp(log).toPrecision(3)));
  return `1e+${Math.floor(log / Math.LN10)}`;
}
