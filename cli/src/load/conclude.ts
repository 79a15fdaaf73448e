import { exitCodeOf } from '../shared/verdict.ts';
import {
  checkAudit,
  checkDrain,
  checkK6,
  checkKeys,
  checkKnee,
  checkTraces,
  type LoadCheck,
  verdictOf,
} from './checks.ts';
import { busiestAtKnee } from './drive.ts';
import type { Finished } from './finished.ts';
import { checkIterations } from './iterations.ts';
import { findKnee, firstSaturated } from './knee.ts';
import { type MeasuredPhase, measure, measurePhases, startOf, throughputOf } from './measured.ts';
import { checkMemory } from './memory.ts';
import { peakOf } from './outbox.ts';
import type { Plan } from './plan.ts';
import type { LoadResult } from './result.ts';

/** What a finished run came to. Pure. */
export function conclude(plan: Plan, run: Finished): LoadResult {
  const { scenario, phases } = plan;
  const { records } = run;
  const measured = measurePhases(phases, records, scenario.requests);
  const knee = kneeOf(plan, measured, run);
  const usage = usageOf(run);
  const soak = { durationS: plan.settings.durationS, faults: plan.faults };
  const memory = scenario.name === 'soak' ? checkMemory(usage, soak) : { checks: [], notChecked: [] };
  const checks = [...checksOf(plan, run, { knee, measured }), ...memory.checks];
  const verdict = verdictOf(checks, run.window.notReverted);
  const { audited, drained } = run;
  return {
    scenario: scenario.name,
    runId: plan.runId,
    verdict,
    exitCode: exitCodeOf(verdict),
    settings: settingsOf(plan),
    startedAt: new Date(startOf(records)).toISOString(),
    tookMs: Math.round(run.tookMs),
    orders: measure(records, lengthS(plan, run)),
    phases: measured,
    outbox: {
      peak: peakOf(run.backlogs) ?? null,
      drainMs: typeof drained === 'string' ? null : (drained.tookMs ?? null),
    },
    sagas: typeof audited.sagas === 'string' ? null : audited.sagas,
    usage,
    knee,
    faults: run.window.faults,
    traces: run.sampled,
    audit: typeof audited.report === 'string' ? null : audited.report,
    checks,
    notChecked: memory.notChecked,
    notReverted: run.window.notReverted,
    gaps: [...run.observer.gaps(), ...(typeof audited.sagas === 'string' ? [`how sagas ended: ${audited.sagas}`] : [])],
  };
}

/**
 * For how long orders were sent, s: what was planned, or until k6 ended when that was earlier. Not from the first order to the
 * last, between which there is a gap less than orders.
 */
function lengthS(
  { phases }: Pick<Plan, 'phases'>,
  { startedAt, endedAt }: Pick<Finished, 'startedAt' | 'endedAt'>,
): number {
  const planned = Math.max(...phases.map(({ startS, durationS }) => startS + durationS));
  return startedAt === undefined ? planned : Math.min(planned, (endedAt - startedAt) / 1000);
}

function settingsOf({ settings: { rate, durationS, vus }, scenario, seed }: Plan): LoadResult['settings'] {
  return { rate: scenario.defaults.rate > 0 ? rate : null, durationS, vus, seed };
}

function kneeOf(
  { scenario, phases }: Plan,
  measured: readonly MeasuredPhase[],
  { observer, records, startedAt = 0 }: Finished,
) {
  if (scenario.name !== 'ramp') return null;
  const knee = findKnee(measured, throughputOf(phases, records));
  return { ...knee, busiest: busiestAtKnee(phases[firstSaturated(measured)], observer, startedAt) };
}

function checksOf(
  { tracesWanted, phases }: Plan,
  { exitCode, summary, cutAt, messages, others, records, window, drained, audited, sampled }: Finished,
  { knee, measured }: { knee: LoadResult['knee']; measured: readonly MeasuredPhase[] },
): readonly LoadCheck[] {
  const ofK6 = checkK6({ exitCode, summary, stoppedEarly: cutAt !== undefined, messages, orders: records.length });
  const hasRun = !ofK6.some(({ verdict }) => verdict === 'unknown');
  const dropped = typeof summary === 'string' ? 0 : summary.dropped;
  return [
    ...ofK6,
    ...checkIterations({ phases, measured, hasRun, dropped, said: [...others, ...messages.split('\n')] }),
    ...(knee === null ? [] : [checkKnee(knee)]),
    ...window.checks,
    checkDrain(drained),
    ...checkAudit(audited.report),
    checkKeys(audited.repeatedKeys),
    ...checkTraces(sampled, { wanted: tracesWanted, stoppedEarly: cutAt !== undefined }),
  ];
}

/** From the first order to the end of the load. */
function usageOf({ observer, records, startedAt, endedAt }: Finished): LoadResult['usage'] {
  const report = observer.usage.report(startedAt, endedAt) ?? observer.usage.report();
  if (report === undefined) return null;
  const requests = Math.max(1, records.length);
  const processes = report.processes
    .map((usage) => ({ ...usage, cpuMsPerRequest: Math.round((100 * usage.cpuMs) / requests) / 100 }))
    .toSorted((a, b) => b.cpuMs - a.cpuMs);
  return { machine: report.machine, processes };
}
