import {
  exitCodeOf,
  judgeAudit,
  judgeDrain,
  judgeK6,
  judgeKeys,
  judgeKnee,
  judgeTraces,
  type LoadCheck,
  verdictOf,
} from './checks.ts';
import { busiestAtKnee } from './drive.ts';
import { findKnee } from './knee.ts';
import type { Finished, Plan } from './load-run.ts';
import { type MeasuredPhase, measure, measurePhases } from './measured.ts';
import { judgeMemory } from './memory.ts';
import type { LoadResult } from './result.ts';
import { judgeTold } from './told.ts';

/** What a finished run came to. Pure. */
export function conclude(plan: Plan, run: Finished): LoadResult {
  const { scenario, phases } = plan;
  const { records } = run;
  const measured = measurePhases(phases, records, scenario.requests);
  const knee = kneeOf(plan, measured, run);
  const usage = usageOf(run);
  const soak = { durationS: plan.settings.durationS, faults: plan.faults };
  const memory = scenario.name === 'soak' ? judgeMemory(usage, soak) : { checks: [], notJudged: [] };
  const checks = [...checksOf(plan, run, { knee, measured }), ...memory.checks];
  const verdict = verdictOf(checks, run.window.remains);
  const firstAt = records.reduce((least, { at }) => Math.min(least, at), Date.now());
  const lastAt = records.reduce((most, { at }) => Math.max(most, at), firstAt);
  const { audited, drained } = run;
  return {
    scenario: scenario.name,
    runId: plan.runId,
    verdict,
    exitCode: exitCodeOf(verdict),
    settings: settingsOf(plan),
    startedAt: new Date(firstAt).toISOString(),
    tookMs: Math.round(run.tookMs),
    orders: measure(records, (lastAt - firstAt) / 1000),
    phases: measured,
    outbox: {
      peak: run.observer.peak()?.pending ?? null,
      drainMs: typeof drained === 'string' ? null : (drained.tookMs ?? null),
    },
    usage,
    knee,
    faults: run.window.faults,
    traces: run.sampled,
    audit: typeof audited.report === 'string' ? null : audited.report,
    checks,
    notJudged: memory.notJudged,
    remains: run.window.remains,
    gaps: run.observer.gaps(),
  };
}

function settingsOf({ settings: { rate, durationS, vus }, scenario, seed }: Plan): LoadResult['settings'] {
  return { rate: scenario.defaults.rate > 0 ? rate : null, durationS, vus, seed };
}

function kneeOf({ scenario, phases }: Plan, measured: readonly MeasuredPhase[], { observer, startedAt = 0 }: Finished) {
  if (scenario.name !== 'ramp') return null;
  const knee = findKnee(measured);
  return { ...knee, busiest: busiestAtKnee(knee, phases, observer, startedAt) };
}

function checksOf(
  { tracesWanted, phases }: Plan,
  { exitCode, summary, cutAt, messages, others, records, window, drained, audited, sampled }: Finished,
  { knee, measured }: { knee: LoadResult['knee']; measured: readonly MeasuredPhase[] },
): readonly LoadCheck[] {
  const ofK6 = judgeK6({ exitCode, summary, wasEnough: cutAt !== undefined, messages, orders: records.length });
  const hasRun = !ofK6.some(({ outcome }) => outcome === 'unknown');
  const dropped = typeof summary === 'string' ? 0 : summary.dropped;
  return [
    ...ofK6,
    ...judgeTold({ phases, measured, hasRun, dropped, said: [...others, ...messages.split('\n')] }),
    ...(knee === null ? [] : [judgeKnee(knee)]),
    ...window.checks,
    judgeDrain(drained),
    ...judgeAudit(audited.report),
    judgeKeys(audited.repeatedKeys),
    ...judgeTraces(sampled, { wanted: tracesWanted, wasEnough: cutAt !== undefined }),
  ];
}

/** From the first order to the end of the load. */
function usageOf({ observer, records, startedAt, endedAt }: Finished): LoadResult['usage'] {
  const report = observer.usage.report(startedAt, endedAt) ?? observer.usage.report();
  if (report === undefined) return null;
  const orders = Math.max(1, records.length);
  const processes = report.processes
    .map((usage) => ({ ...usage, cpuMsPerOrder: Math.round((100 * usage.cpuMs) / orders) / 100 }))
    .toSorted((a, b) => b.cpuMs - a.cpuMs);
  return { machine: report.machine, processes };
}
