import type { Ends, PlanArithmetic } from '../../deploy/analysis/arithmetic.ts';
import type { CanaryPlan } from '../../deploy/analysis/plan.ts';
import { formatTable } from '../../output/table.ts';
import { formatDuration } from '../../shared/duration.ts';

/** What a plan takes and finds, for people. */
export function renderPlan(file: string, plan: CanaryPlan, arithmetic: PlanArithmetic): string {
  const { ratePerSecond, refusal } = arithmetic;
  const title = `${file}: a canary of ${plan.service}, compared with ${baselines[plan.baseline]}, at ${ratePerSecond} requests a second`;
  return [
    title,
    ...(refusal === undefined
      ? [stepTable(plan, arithmetic)]
      : [stepTable(plan, arithmetic), `it cannot end: ${refusal}`]),
    ...(refusal === undefined ? [outcomeTable(arithmetic), slowTable(plan, arithmetic)] : []),
    promises(plan, arithmetic),
  ].join('\n\n');
}

const baselines = { fresh: 'a stable instance of the same age', running: 'the instances that run' } as const;

function stepTable({ limitMs }: CanaryPlan, { steps, seconds, leastRatePerSecond }: PlanArithmetic): string {
  const rows = steps.map((step, index) => [
    String(index + 1),
    percent(step.share),
    String(step.requests),
    Number.isFinite(step.seconds) ? formatDuration(step.seconds * 1_000) : 'no end',
    step.isByRequests ? 'its requests' : 'its least time',
  ]);
  const table = formatTable(['STEP', 'WEIGHT', 'REQUESTS OF THE CANARY', 'TAKES', 'BECAUSE OF'], rows);
  const all = Number.isFinite(seconds) ? `at least ${formatDuration(seconds * 1_000)}` : 'no end';
  const least = Math.ceil(leastRatePerSecond * 10) / 10;
  return `${table}\nall steps: ${all}; the limit is ${formatDuration(limitMs)}, for which ${least} requests a second are needed`;
}

const END_COLUMNS = ['ROLLED BACK', 'PROMOTED', 'INCONCLUSIVE', 'AFTER, MEDIAN AND 95 %', 'FAILED, MEDIAN AND 95 %'];

function outcomeTable({ outcomes }: PlanArithmetic): string {
  const rows = outcomes.map(({ stable, canary, ...ends }) => [
    `${percent(canary)}${canary === stable ? ', as stable' : ''}`,
    ...endCells(ends),
  ]);
  return formatTable(['REQUESTS THAT FAIL', ...END_COLUMNS], rows);
}

function slowTable({ slow: { above } }: CanaryPlan, { slowOutcomes }: PlanArithmetic): string {
  const rows = slowOutcomes.map(({ slow, ...ends }) => [percent(slow), ...endCells(ends)]);
  return formatTable([`SLOWER THAN P${Math.round(above * 100)} OF STABLE`, ...END_COLUMNS], rows);
}

function endCells({ rolledBack, promoted, inconclusive, medianSeconds, p95Seconds, medianFailed, p95Failed }: Ends) {
  return [
    ...[rolledBack, promoted, inconclusive].map(percent),
    `${formatDuration(medianSeconds * 1_000)}, ${formatDuration(p95Seconds * 1_000)}`,
    `${medianFailed}, ${p95Failed}`,
  ];
}

function promises({ errors, slow, margin }: CanaryPlan, arithmetic: PlanArithmetic): string {
  const { falseRollback, falsePromotion, requestsForMargin, outcomes, runs } = arithmetic;
  return [
    `a good release is rolled back in at most ${percent(falseRollback)} (${percent(errors.alpha)} for errors, ${percent(slow.alpha)} for slowness), however often it is looked at`,
    `a release that fails more often by ${percent(margin)} or more is promoted in at most ${percent(falsePromotion)}`,
    `${requestsForMargin} requests of the canary without a failure show less than ${percent(margin)} at 95 %`,
    ...(outcomes.length > 0 ? [`simulated: ${runs} rollouts a row with a fixed seed; guards are not simulated`] : []),
  ].join('\n');
}

/** Of a share: `0.25 %`. */
function percent(share: number): string {
  return `${Number((share * 100).toPrecision(3))} %`;
}
