import { resolve } from 'node:path';
import type { AnnotationOptions, CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { refuseNotInjectable } from '../../experiments/run/preflight.ts';
import { forwardHangUp } from '../../interruption.ts';
import { checkFaults, chooseFaults } from '../../load/faults.ts';
import { runPlan } from '../../load/load-run.ts';
import type { Plan } from '../../load/plan.ts';
import { renderLoad } from '../../load/render.ts';
import { findScenario, resolveSettings } from '../../load/settings.ts';
import { k6PageOf, suiteOf, writeReports } from '../../load/write-reports.ts';
import { annotate } from '../../output/annotations.ts';
import type { PlatformConnection } from '../../platform/connection.ts';
import { haveTool } from '../../platform/have-tool.ts';
import { assertNoStuckFaults } from '../../platform/orphaned-faults.ts';
import type { Project } from '../../platform/project.ts';
import { holdRuns } from '../../platform/run-lock.ts';
import { type ReportFiles, refuseUnwritable } from '../../report/report-files.ts';

export interface LoadRunOptions extends CommonOptions, AnnotationOptions, ReportFiles {
  readonly rate?: number;
  /** ms. */
  readonly duration?: number;
  readonly vus?: number;
  readonly seed?: number;
  /** Faults and experiments. */
  readonly chaos?: readonly string[];
  readonly traces: number;
}

/** `shopctl load run`. */
export async function runLoad(name: string, options: LoadRunOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  const plan = await planOf(name, options, project);
  const connection = await deps.connect(project);
  assertNoStuckFaults(connection.state.faults);
  refuseUnready(connection);
  checkFaults(plan.faults, connection.state);
  await refuseNotInjectable(project, plan.faults);
  await refuseUnwritable(options);
  const over = Promise.withResolvers<void>();
  // A first Ctrl-C aborts the signal, and the run ends in order: ends k6, reverts faults, removes its files.
  deps.onInterrupt(() => over.promise);
  deps.onForce?.(() => deps.output.note('still ending k6 and reverting faults; once more does not wait for it'));
  forwardHangUp();
  try {
    await using _ = await holdRuns(project);
    const program = await haveTool('k6', project, deps);
    const run = await runPlan(plan, { project, connection, program, deps });
    await writeReports(run, options, deps.output);
    const { result } = run;
    deps.output.result(result, () => renderLoad(result, deps.output.style));
    await annotate([suiteOf(result)], options, deps);
    process.exitCode = result.exitCode;
  } finally {
    over.resolve();
  }
}

async function planOf(name: string, options: LoadRunOptions, { root }: Project): Promise<Plan> {
  const scenario = findScenario(name);
  const words = options.chaos ?? [];
  const settings = resolveSettings(scenario, options, words.length > 0);
  const seed = options.seed ?? 1;
  return {
    scenario,
    settings,
    phases: scenario.phases(settings),
    faults: await chooseFaults(words, root),
    seed,
    runId: `load-${new Date().toISOString().replace(/\D/g, '').slice(0, 17)}-${scenario.name}-${seed}`,
    tracesWanted: options.traces,
    // k6 runs in the clone, the user perhaps elsewhere.
    htmlFile: options.html === undefined ? undefined : k6PageOf(resolve(options.html)),
  };
}

/** While a fault acts a load may be meant to measure its effect, and what is not ready may be so on purpose. */
function refuseUnready({ state, gatewayUrl }: PlatformConnection): void {
  if (gatewayUrl !== '' && state.faults.length > 0) return;
  const unready = state.instances.filter(({ kind, status }) => kind === 'service' && status !== 'ready');
  if (gatewayUrl !== '' && unready.length === 0) return;
  throw new CliError({
    code: 'component_not_running',
    what: 'the platform is not ready for a load',
    why:
      gatewayUrl === ''
        ? 'the gateway was not started'
        : unready.map(({ name, status }) => `${name} is ${status}`).join(', '),
    next: 'see "shopctl status"; "shopctl up" starts what is missing',
  });
}
